"""A repair that is killed at any moment loses nothing, and the next one finishes it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from crawl.crawling import settings_for, sound
from killing import Countdown, in_a_fork
from periplus.repair import repair
from periplus.repair.run import Repaired
from repair.damaged import archived, versions

KILLS = 6


def lose_catalog(home: Path) -> None:
    (home / "crawl.db").unlink()


def damage_archive(home: Path) -> None:
    path = min((home / "archive").glob("*.warc.gz"))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def counted(home: Path, calls: int = 1 << 60) -> int:
    """Repair, and kill the process after so many calls; else return the number of calls."""
    countdown = Countdown(calls, Repaired.report.__code__)
    sys.setprofile(countdown)
    repair(home, settings_for(None))
    sys.setprofile(None)
    return countdown.made


@pytest.mark.slow
@pytest.mark.parametrize("damage", [lose_catalog, damage_archive])
def test_a_killed_repair_is_finished_by_the_next_one(home: Path, tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    shutil.rmtree(home / "ranks")  # they take most calls, and are tested elsewhere
    shutil.rmtree(home / "index")
    damage(home)
    intact = archived(home)
    shutil.copytree(home, tmp_path / "measured")
    _, calls = in_a_fork(lambda: counted(tmp_path / "measured"))
    for number in range(KILLS):
        copy = tmp_path / f"killed-{number}"
        shutil.copytree(home, copy)
        ended, _ = in_a_fork(lambda at=1 + calls * number // KILLS: counted(copy, at))  # type: ignore[misc]  # noqa: B023
        assert ended
        in_a_fork(lambda: len(repair(copy, settings_for(None)).left))  # noqa: B023
        sound(copy)
        assert intact <= versions(copy)
