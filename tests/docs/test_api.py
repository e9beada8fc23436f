"""The page about the JSON API describes the answers of the site."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from search.library import Doc, index, opened, settings, shelve
from web.serving import Site, searching

PAGE = (Path(__file__).parents[2] / "docs/reference/api.md").read_text(encoding="utf-8")
EXAMPLE, *_, ERROR = map(json.loads, re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL))
OSTIA = "Claudius had a new harbour dug north of the river mouth."
PHAROS = "It stood at the entrance of the great harbour."
MEASURED = {"seconds": 0, "steps": {}, "score": 0, "explain": {}}  # differs from machine to machine or by weights


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    pages = [
        Doc("https://harbours.example/ostia", "Ostia: the harbour of Rome", OSTIA, at=1_772_600_700.0),
        Doc("https://coast.example/pharos", "The lighthouse of Alexandria", PHAROS),
    ]
    collection = shelve(tmp_path_factory.mktemp("api"), pages)
    index(collection)
    with opened(collection) as engine:
        library = PageLibrary(collection, settings(), lambda: nullcontext(engine))
        with searching(engine, library=library, report=partial(read_url_report, collection, settings())) as served:
            yield served


@pytest.fixture(scope="module")
def answer(site: Site) -> Any:
    return site.get("/api/search", q="harbour rome", size=1, explain=1).json


def keys_of(section: str) -> list[str]:
    """The first column of the table in a section of the page."""
    text = PAGE.partition(f"## {section}\n")[2].partition("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


def test_every_key_of_an_answer_is_described(answer: Any) -> None:
    assert keys_of("Keys of the answer") == list(answer) == list(EXAMPLE)


def test_every_key_of_a_result_is_described(answer: Any) -> None:
    assert keys_of("Keys of a result") == list(answer["results"][0]) == list(EXAMPLE["results"][0])


def test_the_example_is_a_real_answer(answer: Any) -> None:
    assert list(answer["steps"]) == list(EXAMPLE["steps"])
    assert list(answer["results"][0]["explain"]) == list(EXAMPLE["results"][0]["explain"])
    assert without_measurements(answer) == without_measurements(EXAMPLE)


def without_measurements(answer: Any) -> Any:
    results = [result | {name: MEASURED[name] for name in ("score", "explain")} for result in answer["results"]]
    return answer | {name: MEASURED[name] for name in ("seconds", "steps")} | {"results": results}


def test_the_keys_of_features_are_described(site: Site, answer: Any) -> None:
    found = site.get("/api/search", q="harbour rome", size=1, features=1).json
    keys = [key for key in found if key not in answer]
    assert keys_of("Features") == keys + list(found["features"][0])
    assert len(found["features"]) == 2


def test_the_parts_of_the_score_in_the_example_add_up() -> None:
    (result,) = EXAMPLE["results"]
    assert sum(result["explain"].values()) == pytest.approx(result["score"])


def test_the_example_of_an_error_is_a_real_one(site: Site) -> None:
    found = site.get("/api/search", q="x", page="two")
    assert (found.status, found.json) == (400, ERROR)


def test_the_other_urls_answer_as_described(site: Site) -> None:
    health = site.get("/healthz").json
    assert json.dumps(health) in PAGE
    for path in re.findall(r"^\| `GET (/[\w./]+)", PAGE, re.MULTILINE):
        assert site.get(path, q="harbour", url="https://harbours.example/ostia").status in {200, 303}, path
