"""Does an interrupted `reparse --everything` continue where it stopped?"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import catalog_of, run_crawl, segment_rows, settings_for, sound
from periplus.reparse import Reparsed, reparse
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb

SEGMENTS = 6


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A collection with one segment per site."""
    sites = [Site(f"s{number}.test", {"/": Page(f"{number}", "words " * 50)}) for number in range(SEGMENTS)]
    with TestWeb(sites) as web:
        for site in sites:
            run_crawl(web, tmp_path, f"http://{site.host}/")
    reparse(open_collection(tmp_path), settings_for(None), everything=False)
    return tmp_path


class Stop(Exception):  # noqa: N818
    pass


def give_up() -> None:
    raise Stop


def again(home: Path, *, stop_after: int | None = None, stop: Callable[[], None] = give_up, **flags: Any) -> Reparsed:
    def tell(done: int, _: int) -> None:
        if done == stop_after:
            stop()

    return reparse(open_collection(home), settings_for(None, **flags), everything=True, on_progress=tell)


def revisions(home: Path) -> list[str]:
    with catalog_of(home) as catalog:
        return sorted(segment.name.partition("-r")[2].partition(".")[0] for segment in catalog.segments("pages"))


def test_segments_finished_before_an_interruption_are_not_parsed_again(home: Path) -> None:
    with pytest.raises(Stop):
        again(home, stop_after=2)
    assert revisions(home) == ["1"] * 4 + ["2"] * 2
    assert again(home).segments == 4
    assert revisions(home) == ["2"] * 6
    assert again(home).segments == 6, "it was finished, so this is another time"
    sound(home)


def test_with_other_settings_it_starts_over(home: Path) -> None:
    with pytest.raises(Stop):
        again(home, stop_after=2)
    assert again(home, parse__languages=["en"]).segments == 6


def test_a_damaged_plan_file_is_replaced(home: Path) -> None:
    with pytest.raises(Stop):
        again(home, stop_after=2)
    (home / "reparse.json").write_bytes(b'{"reader"')
    assert again(home).segments == 6
    assert not (home / "reparse.json").exists()


def test_any_run_parses_quickly_parsed_pages(home: Path) -> None:
    with pytest.raises(Stop):
        again(home, stop_after=2)
    with TestWeb([Site("new.test", {"/": Page("new")})]) as web:
        run_crawl(web, home, "http://new.test/")
    assert reparse(open_collection(home), settings_for(None), everything=False).segments == 1
    assert again(home).segments == 4


def test_a_killed_run_continues_with_the_remaining_segments(home: Path) -> None:
    before = [(row["url"], row["title"]) for row in segment_rows(home, "pages")]
    child = os.fork()
    if not child:
        again(home, stop_after=2, stop=lambda: os.kill(os.getpid(), signal.SIGKILL))
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert revisions(home) == ["1"] * 4 + ["2"] * 2
    assert again(home).segments == 4
    assert revisions(home) == ["2"] * 6
    assert [(row["url"], row["title"]) for row in segment_rows(home, "pages")] == before
    sound(home)
