"""Damage to ranks and index is found by `verify`, is one line in other commands, and goes away with a rebuild."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from crawl.crawling import run_crawl, sound, typed
from index.damage import WAYS
from periplus.inspector.verify import verify
from periplus.store.collection import open_collection
from search.test_engine_damage import KINDS
from store.test_ranks import FILES
from testweb import TestWeb, mesh

RANKS = ["ranks/CURRENT", "ranks/gen-1/meta.json", *(f"ranks/gen-1/{name}" for name in FILES)]
INDEX = ["index/CURRENT", *(f"index/gen-000001/{kind}" for kind in KINDS)]
SIZE_CHANGES = ["deleted", "emptied", "cut in half"]
PAGE = "http://a.test/3"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("built") / "home"
    with TestWeb([mesh("a.test", 12)]) as web:
        run_crawl(web, home, "http://a.test/")
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    """A copy of an undamaged collection, for a test to damage."""
    shutil.copytree(built, tmp_path / "home")
    return tmp_path / "home"


def test_a_sound_collection_says_that_its_generations_were_looked_at(built: Path) -> None:
    assert sound(built).checked["generations"] == 2


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [*RANKS, *INDEX])
def test_verify_names_the_damaged_file_and_no_other(home: Path, kind: str, way: str) -> None:
    path = min(home.glob(kind))
    WAYS[way](path)
    assert {problem.where for problem in verify(open_collection(home)).problems} == {str(path.relative_to(home))}


def test_the_command_names_it_in_one_line(home: Path) -> None:
    WAYS["zeroed"](home / "ranks/gen-1/ranks.npy")
    outcome = typed("verify", "--home", home)
    assert outcome.code == 1
    assert "ranks/gen-1/ranks.npy: its content does not match its checksum" in outcome.complaint


def test_ranks_and_index_are_looked_at_when_the_catalog_is_damaged_too(home: Path) -> None:
    for name in ("crawl.db", "ranks/CURRENT", "index/CURRENT"):
        WAYS["zeroed"](home / name)
    found = {problem.where for problem in verify(open_collection(home)).problems}
    assert found == {"crawl.db", "ranks/CURRENT", "index/CURRENT"}


def test_a_rolled_back_index_is_sound_and_only_the_live_generation_is_checked(home: Path) -> None:
    assert typed("index", "--full", "--home", home).code == 0
    assert typed("index", "--rollback", "--home", home).code == 0
    assert sound(home).checked["generations"] == 2
    WAYS["zeroed"](home / "index/gen-000002/heads.dat")
    sound(home)
    WAYS["zeroed"](home / "index/gen-000001/heads.dat")
    assert [problem.where for problem in verify(open_collection(home)).problems] == ["index/gen-000001/heads.dat"]


@pytest.mark.parametrize("command", [("inspect", "url", PAGE), ("top", "pages"), ("top", "hosts")])
@pytest.mark.parametrize("kind", RANKS)
def test_damaged_ranks_give_an_answer_or_one_error_line(home: Path, kind: str, command: tuple[str, ...]) -> None:
    whole = (home / kind).read_bytes()
    for way, damage in WAYS.items():
        damage(home / kind)
        outcome = typed(*command, "--home", home)
        assert outcome.code in (0, 1), (way, outcome)
        if outcome.code:
            is_missing = (way, kind) == ("deleted", "ranks/CURRENT")
            assert ("Run `periplus rank` first." if is_missing else "Run `periplus repair`.") in outcome.complaint
        else:
            assert outcome.out
            assert way not in SIZE_CHANGES or kind == "ranks/CURRENT", way
        (home / kind).write_bytes(whole)


@pytest.mark.parametrize("way", ["deleted", "zeroed", "cut in half", "flipped in the middle"])
def test_a_new_ranking_and_a_new_index_mend_everything(home: Path, way: str) -> None:
    for kind in [*RANKS, *INDEX]:
        WAYS[way](min(home.glob(kind)))
    for command in ("rank", "index"):
        outcome = typed(command, "--home", home)
        assert outcome.code == 0, outcome
    sound(home)
