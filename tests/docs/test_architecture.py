"""Does the map of the code name what is there?"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "periplus"
TOUR = re.findall(r"`([\w/]+)\.py` `([\w.]+)`", (ROOT / "docs/tour.md").read_text(encoding="utf-8"))
GLOSSARY = re.findall(r"^\| ([^|]+?) \|", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)[1:]
# The terms of the field that ARCHITECTURE.md may use, as patterns: each must be explained.
TERMS = (
    "acknowledged|admission|anchor text|archive|cap|collection|crash guard|duplicate|fold|frontier|"
    "generation|host|lease|novelty|ownership|PageRank|page store|parked|politeness|reason|recrawl|"
    "robots\\.txt|run|sandbox|scope|seed|segment|simhash|snippet|supervisor|trap|visit|WARC|worker"
)


def test_the_tour_goes_all_the_way() -> None:
    assert len(TOUR) > 25


@pytest.mark.parametrize(("module", "name"), TOUR, ids=[f"{module} {name}" for module, name in TOUR])
def test_every_stop_of_the_tour_exists(module: str, name: str) -> None:
    found: object = import_module(f"periplus.{module.replace('/', '.')}")
    for part in name.split("."):
        found = getattr(found, part)
    assert callable(found)


def test_the_map_names_every_folder_and_no_other() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `([\w/.]+)` \|", text, re.MULTILINE))
    folders = {f"{path.name}/" for path in SOURCE.iterdir() if (path / "__init__.py").exists()}
    modules = {path.name for path in SOURCE.glob("*.py") if not path.name.startswith("__")}
    assert named == folders | modules


def test_every_term_of_the_map_is_in_the_glossary() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    used = {word.lower() for word in re.findall(rf"\b({TERMS})(?:s|ed)?\b", text)}
    assert len(used) > 20
    assert not used - {term.lower() for term in GLOSSARY}


def test_the_glossary_is_in_order() -> None:
    assert [term.lower() for term in GLOSSARY] == sorted(term.lower() for term in GLOSSARY)
