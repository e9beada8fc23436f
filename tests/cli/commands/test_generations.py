"""`periplus generations` lists generations, and `periplus index --rollback` makes an earlier one live again."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawl.crawling import typed
from index.live import live_index
from periplus.store.collection import Collection
from search.library import Doc, index, shelve


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    found = shelve(tmp_path, [Doc("http://a.test/", "Old harbour", "harbour")])
    index(found)
    shelve(tmp_path, [Doc("http://b.test/", "New harbour", "harbour")])
    index(found)
    return found


def total(collection: Collection) -> int:
    found: int = typed("search", "harbour", "--home", collection.home, "--json").json["total"]
    return found


def test_generations_are_listed_for_people_and_programs(collection: Collection) -> None:
    headings, newest, oldest = typed("generations", "--home", collection.home).out.splitlines()
    assert headings.split() == ["kind", "generation", "published", "documents", "size", "format", "state"]
    assert newest.split()[:2] == ["index", "2"]
    assert newest.split()[-1] == "live"
    assert "live" not in oldest
    found = typed("generations", "--home", collection.home, "--json").json["generations"]
    assert [(entry["generation"], entry["documents"], entry["live"]) for entry in found] == [
        (2, 2, True),
        (1, 1, False),
    ]


def test_after_a_rollback_searches_use_the_earlier_index(collection: Collection) -> None:
    assert total(collection) == 2
    assert typed("index", "--rollback", "--home", collection.home, "--json").json == {"generation": 1}
    assert total(collection) == 1
    assert "generation 2" in typed("index", "--rollback", "2", "--home", collection.home).out
    assert total(collection) == 2


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["--rollback", "9"], 1, "there is no generation 9. `periplus generations` lists the generations."),
        (["1"], 2, "generation 1 is given without --rollback"),
        (["--rollback", "0"], 2, "greater than or equal to 1"),
    ],
)
def test_an_impossible_rollback_is_one_line(
    collection: Collection, arguments: list[str], code: int, complaint: str
) -> None:
    outcome = typed("index", *arguments, "--home", collection.home)
    assert (outcome.code, outcome.out) == (code, "")
    assert complaint in outcome.complaint
    assert live_index(collection).name == "gen-000002"


def test_a_rollback_to_a_damaged_index_is_one_line(collection: Collection) -> None:
    (collection.index / "gen-000001" / "heads.dat").write_bytes(b"")
    outcome = typed("index", "--rollback", "--home", collection.home)
    assert outcome.code == 1
    assert "generation 1 cannot be made live: " in outcome.complaint
    assert total(collection) == 2
