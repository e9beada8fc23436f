"""A damaged index is one error line with advice, and never a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from index.damage import WAYS
from periplus.errors import DamagedFile, NoIndex
from periplus.index.generations import Generations, problems_of
from periplus.store.collection import Collection, open_collection
from search.library import Doc, index, opened, shelve

KINDS = [
    "meta.json",
    "heads.dat",
    "heads.npy",
    "texts.dat",
    "texts.npy",
    "ranks.npy",
    "hosts.npy",
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
    generation = Generations(collection.index).current()
    path = min(generation.glob(kind))
    WAYS[way](path)
    named = [name for name, _ in problems_of(generation)]
    assert named == [str(path.relative_to(generation))]
    with pytest.raises(DamagedFile, match=r"`periplus repair` mends it\.") as caught:
        search(collection)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("kind", ["meta.json", "*.dat", "tantivy/*"])
def test_a_new_index_mends_it(collection: Collection, kind: str) -> None:
    for path in Generations(collection.index).current().glob(kind):
        path.unlink()
    index(collection)
    assert search(collection) == 900


def test_an_index_whose_name_is_lost_can_be_built_again(collection: Collection) -> None:
    (collection.index / "CURRENT").unlink()
    with pytest.raises(NoIndex):
        search(collection)
    index(collection)
    assert search(collection) == 900


def flipped(home: Path, times: int, seed: int) -> dict[str, int]:
    command = [sys.executable, str(Path(__file__).with_name("flips.py")), str(home), str(times), str(seed)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3000, check=False)
    assert result.returncode == 0, result.stderr
    found: dict[str, int] = json.loads(result.stdout)
    return found


@pytest.mark.slow
def test_a_flipped_bit_is_named_and_ends_in_an_answer_or_in_one_line(collection: Collection) -> None:
    found = flipped(collection.home, 100, seed=1)
    assert found["named"] == 100
    assert not {"died", "failed"} & set(found), found


@pytest.mark.long
def test_so_do_two_thousand(collection: Collection) -> None:
    found = flipped(collection.home, 2_000, seed=2)
    assert found["named"] == 2_000
    assert not {"died", "failed"} & set(found), found
