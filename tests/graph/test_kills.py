"""A ranking that is killed at any point leaves the last ranks as they were, and the next one gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from graph.webs import CrawledPage, RedirectedUrl, web
from killing import swept


def ranked_after_kills(home: Path, kills: int) -> dict[str, int]:
    links = [[(f"https://h{k}.org/{n * k % 31}", f"text {k}") for k in range(6)] for n in range(60)]
    pages = [CrawledPage(f"https://h{n % 5}.org/{n}", links[n]) for n in range(60)]
    web(home, *pages, RedirectedUrl("https://h0.org/old", "https://h1.org/1"))
    return swept(Path(__file__).with_name("kills.py"), home, kills)


@pytest.mark.slow
def test_a_killed_ranking_changes_nothing_and_the_next_one_gives_the_same_bytes(tmp_path: Path) -> None:
    found = ranked_after_kills(tmp_path, 12)
    assert found["killed"] >= 6  # the number of calls varies a little, so some rankings end before their kill
    assert 0 < found["switched"] < 8
    assert (found["differing"], found["leftovers"]) == (0, 0)


@pytest.mark.long
def test_five_hundred_kills_change_nothing_either(tmp_path: Path) -> None:
    found = ranked_after_kills(tmp_path, 500)
    assert (found["differing"], found["leftovers"]) == (0, 0)
