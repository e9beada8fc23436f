"""A damaged index is one error line with advice, and never a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from crawl.crawling import typed
from index.damage import WAYS, flip
from index.live import live_index, problems_of
from periplus.errors import DamagedFile, NoIndex
from periplus.store.collection import Collection, open_collection
from search.library import Doc, index, opened, shelve

CHANGED = "its content does not match its checksum"
KINDS = [
    "meta.json",
    "heads.dat",
    "heads.npy",
    "texts.dat",
    "texts.npy",
    "details.dat",
    "details.npy",
    "sites.dat",
    "sites.npy",
    "site_keys.npy",
    "ranks.npy",
    "hosts.npy",
    "qualities.npy",
    "near.parquet",
    "tantivy/meta.json",
    "tantivy/.managed.json",
    "tantivy/*.fast",
    "tantivy/*.fieldnorm",
    "tantivy/*.idx",
    "tantivy/*.pos",
    "tantivy/*.store",
    "tantivy/*.term",
]


@pytest.fixture(scope="module")
def sound_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("sound")
    pages = [
        Doc(f"http://h{n % 9}.test/{n}", f"quick {n}", f"{'quick brown fox ' * (n % 7 + 1)}{n}") for n in range(300)
    ]
    index(shelve(home, pages))
    return home


@pytest.fixture
def collection(sound_home: Path, tmp_path: Path) -> Collection:
    shutil.copytree(sound_home, tmp_path / "copy")
    return open_collection(tmp_path / "copy")


def search(collection: Collection) -> int:
    with opened(collection) as engine:
        return sum(engine.search(query, size=50).total for query in ("quick fox", '"brown fox" -zebra', "site:test"))


@pytest.mark.parametrize("way", [way for way in WAYS if not way.startswith("flipped")])
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_one_error_line(collection: Collection, kind: str, way: str) -> None:
    generation = live_index(collection)
    path = min(generation.glob(kind))
    WAYS[way](path)
    named = [name for name, _ in problems_of(generation)]
    assert named == [str(path.relative_to(generation))]
    with pytest.raises(DamagedFile, match=r"Run `periplus repair`\.") as caught:
        search(collection)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("kind", ["meta.json", "*.dat", "tantivy/*"])
def test_a_new_index_mends_it(collection: Collection, kind: str) -> None:
    for path in live_index(collection).glob(kind):
        path.unlink()
    index(collection)
    assert search(collection) == 900


def test_an_index_whose_name_is_lost_can_be_built_again(collection: Collection) -> None:
    (collection.index / "CURRENT").unlink()
    with pytest.raises(NoIndex):
        search(collection)
    index(collection)
    assert search(collection) == 900


@pytest.fixture
def large_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is large, so that all are checked in the background."""
    monkeypatch.setattr("periplus.store.generations._SMALL_FILE", 0)


@pytest.mark.usefixtures("large_files")
@pytest.mark.parametrize("name", ["heads.dat", "texts.dat", "ranks.npy"])
def test_damage_of_a_large_file_is_found_in_the_background(collection: Collection, name: str) -> None:
    path = live_index(collection) / name
    flip(path, 0.99)
    with opened(collection) as engine:
        found = engine.damage(wait_seconds=30)
        assert engine.is_damaged
    assert str(found) == f"{path} is damaged: {CHANGED}. Run `periplus repair`."


@pytest.mark.usefixtures("large_files")
def test_an_undamaged_index_has_no_damage(collection: Collection) -> None:
    with opened(collection) as engine:
        assert engine.damage(wait_seconds=30) is None
        assert not engine.is_damaged


@pytest.mark.usefixtures("large_files")
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_search_in_a_damaged_index_shows_results_and_then_fails(collection: Collection, form: list[str]) -> None:
    path = live_index(collection) / "texts.dat"
    flip(path, 1.0)
    outcome = typed("search", "quick fox", "--home", collection.home, *form)
    assert outcome.code == 1
    assert "h0.test" in outcome.out
    assert outcome.complaint.endswith(f"{path} is damaged: {CHANGED}. Run `periplus repair`.")


def flipped(home: Path, times: int, seed: int) -> dict[str, int]:
    command = [sys.executable, str(Path(__file__).with_name("flips.py")), str(home), str(times), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert result.returncode == 0, result.stderr
    found: dict[str, int] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_a_flipped_bit_is_named_and_never_changes_an_answer(collection: Collection) -> None:
    assert flipped(collection.home, 100, seed=1) == {"named": 100, "told": 100}


@pytest.mark.long
def test_so_do_two_thousand(collection: Collection) -> None:
    assert flipped(collection.home, 2_000, seed=2) == {"named": 2_000, "told": 2_000}
