"""A command that is killed at any moment is finished by running it again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from crawl.crawling import settings_for, sound, typed
from forget.forgetting import PHRASE, SECRET, places_of
from killing import Countdown, in_a_fork
from periplus.forget import forget

KILLS = 10
_BEGINNINGS = 4  # kills before the ranks are computed


def counted(home: Path, calls: int = 1 << 60) -> list[int]:
    """Forget, and kill the process after so many calls; else return the calls, all and before the ranks."""
    from periplus.graph.run import rank

    countdown = Countdown(calls, rank.__code__)
    sys.setprofile(countdown)
    forget(home, settings_for(None), SECRET)
    sys.setprofile(None)
    return [countdown.made, countdown.before_publishing]


@pytest.mark.slow
def test_a_killed_command_is_finished_by_the_next_one(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "measured")
    _, (calls, purged) = in_a_fork(lambda: counted(tmp_path / "measured"))
    early = [1 + purged * number // (KILLS - _BEGINNINGS) for number in range(KILLS - _BEGINNINGS)]
    late = [purged + (calls - purged) * number // _BEGINNINGS for number in range(_BEGINNINGS)]
    for moment in early + late:
        copy = tmp_path / f"killed-{moment}"
        shutil.copytree(home, copy)
        ended, _ = in_a_fork(lambda at=moment: counted(copy, at))  # type: ignore[misc]  # noqa: B023
        assert ended
        in_a_fork(lambda: len(forget(copy, settings_for(None), SECRET).receipt.removed))  # noqa: B023
        assert places_of(copy, SECRET, PHRASE) == []
        sound(copy)
        assert typed("verify", "--forgotten", "--home", copy).code == 0
        (receipt,) = (copy / "forgotten").glob("receipt-*.json")
        assert '"pages": 1' in receipt.read_text()
        shutil.rmtree(copy)
