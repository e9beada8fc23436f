"""Every file type, damaged in every way, before every command: the damage is named, or does no harm.

Afterwards `periplus repair` makes the collection whole again, without losing a page whose archive record is intact.
The gate takes 60 cases by lot, `make long` all of them.
"""

from __future__ import annotations

import random
import re
import shutil
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import pytest

from crawl.crawling import Outcome, reach, sound, typed
from repair.damaged import SEEDS, archived, versions
from search.test_engine_damage import KINDS
from store.test_ranks import FILES
from testweb import TestWeb

FILE_TYPES = [
    "collection.json",
    "crawl.db",
    "archive/w00-000001.warc.gz",
    "archive/w00-000003.warc.gz",
    "segments/pages-*-r1.parquet",
    "segments/links-*-r1.parquet",
    "ranks/CURRENT",
    "ranks/gen-1/meta.json",
    *(f"ranks/gen-1/{name}" for name in FILES),
    "index/CURRENT",
    "index/gen-000001/near.parquet",
    "index/gen-000001/qualities.npy",
    *(f"index/gen-000001/{kind}" for kind in KINDS),
]
READING: dict[str, list[str]] = {
    "status": [],
    "runs": [],
    "traps": [],
    "top": ["pages"],
    "inspect": ["url", "http://a.test/end"],
    "search": ["end"],
}
WRITING: dict[str, list[str]] = {
    "verify": [],
    "crawl": list(SEEDS),
    "import": ["FILE"],
    "rank": [],
    "reparse": [],
    "reparse everything": ["--everything"],
    "index": [],
    "export": ["OUT"],
    "repair": ["--dry-run"],
}


def truncate(path: Path, share: float) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def flip(path: Path, lot: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[lot.randrange(len(data))] ^= 1 << lot.randrange(8)
    path.write_bytes(data)


DAMAGES: dict[str, Callable[[Path, random.Random], None]] = {
    "flip 1": flip,
    "flip 2": flip,
    "flip 3": flip,
    "cut to nothing": lambda path, _: truncate(path, 0.0),
    "cut in half": lambda path, _: truncate(path, 0.5),
    "cut at the end": lambda path, _: truncate(path, 0.97),
    "delete": lambda path, _: path.unlink(),
}


class Case(NamedTuple):
    """One damage before one command."""

    file: str
    damage: str
    command: str

    def __str__(self) -> str:
        return f"{self.file}, {self.damage}, {self.command}"


CASES = [Case(*case) for case in product(FILE_TYPES, DAMAGES, [*READING, *WRITING])]
BY_LOT = random.Random(15).sample(CASES, 60)


def run(case: Case, home: Path, web: TestWeb, archive: Path) -> Outcome:
    places = {"FILE": str(archive), "OUT": str(home.with_name("exported.warc.gz"))}
    arguments = [places.get(word, word) for word in (READING | WRITING)[case.command]]
    options = reach(web) if case.command == "crawl" else []
    return typed(case.command.split()[0], *arguments, "--home", home, *options)


@pytest.fixture(scope="session")
def foreign(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A WARC file to import."""
    path = tmp_path_factory.mktemp("foreign") / "pages.warc.gz"
    assert typed("export", str(path), "--home", built).code == 0
    return path


@pytest.fixture(scope="session")
def healthy(built: Path, damaged_web: TestWeb, foreign: Path) -> dict[str, str]:
    """The output of the reading commands without damage."""
    return {name: run(Case("", "", name), built, damaged_web, foreign).out for name in READING}


def same_words(text: str, home: Path, built: Path) -> str:
    """The output without what differs in every run."""
    return re.sub(r"\d+\.\d+|\s+", " ", text.replace(str(home), str(built)))


def check(case: Case, home: Path, built: Path, web: TestWeb, foreign: Path, healthy: dict[str, str]) -> None:
    path = min(home.glob(case.file))
    DAMAGES[case.damage](path, random.Random(str(case)))
    intact = archived(home)
    outcome = run(case, home, web, foreign)
    if outcome.code:
        assert "internal error" not in outcome.err, outcome.err
        complaint = outcome.err.splitlines()[-1]
        assert path.name in complaint or path.parent.name in complaint, complaint
        assert "repair" in complaint, complaint
    elif case.command in READING and f"{path.name} is damaged" not in outcome.out:  # `status` goes on and names it
        assert same_words(outcome.out, home, built) == same_words(healthy[case.command], built, built)
    repaired = typed("repair", "--home", home)
    assert repaired.code == 0, repaired.err
    sound(home)
    assert intact <= versions(home)


@pytest.fixture
def arguments(
    home: Path, built: Path, damaged_web: TestWeb, foreign: Path, healthy: dict[str, str]
) -> Iterator[tuple[Path, Path, TestWeb, Path, dict[str, str]]]:
    yield home, built, damaged_web, foreign, healthy
    shutil.rmtree(home)


Arguments = tuple[Path, Path, TestWeb, Path, dict[str, str]]


@pytest.mark.slow
@pytest.mark.parametrize("case", BY_LOT, ids=str)
def test_damage_is_named_or_harmless_and_repaired(case: Case, arguments: Arguments) -> None:
    check(case, *arguments)


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_damage_is_named_or_harmless_and_repaired(case: Case, arguments: Arguments) -> None:
    check(case, *arguments)
