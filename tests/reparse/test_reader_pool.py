"""Does the pool recover when reader processes die?"""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import run_crawl, segment_rows, settings_for, sound
from parse.test_page import BOMBS
from periplus.reparse import Reparsed, reparse
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, many_hosts

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("periplus.reparse.reader_pool._PAGES_PER_PROCESS", 10)
    with TestWeb(many_hosts(3, 40)) as web:
        run_crawl(web, tmp_path, "http://h0001.test/", scope__hosts=[".*"], store__segment_seconds=0.05)
    return tmp_path


def again(home: Path, *, everything: bool = False, **flags: Any) -> Reparsed:
    return reparse(open_collection(home), settings_for(None, **flags), everything=everything)


def titles(home: Path) -> list[tuple[str, str]]:
    return [(row["url"], row["title"]) for row in segment_rows(home, "pages")]


def test_several_processes_give_the_same_as_one(home: Path) -> None:
    before = titles(home)
    result = again(home)
    assert (result.pages, result.unread) == (120, 0)
    assert titles(home) == before
    assert all("main" in row for row in segment_rows(home, "pages"))
    assert not multiprocessing.active_children()
    sound(home)


def test_a_page_that_takes_too_long_keeps_its_row(home: Path) -> None:
    body = BOMBS["nested lists"].encode()
    site = Site("bomb.test", {"/": Page(body=(body * (5_000_000 // len(body)))), "/end": Page()})
    with TestWeb([site]) as web:
        run_crawl(web, home, "http://bomb.test/", "http://bomb.test/end")
    before = titles(home)
    result = again(home, parse__seconds=0.2, parse__aside_bytes=1 << 30)
    assert (result.pages, result.unread) == (122, 1)
    assert result.reasons[0].what == "http://bomb.test/"
    assert result.reasons[0].why.startswith("parse_time: not parsed after")
    assert titles(home) == before
    sound(home)


def test_readers_killed_at_random_lose_no_page(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.reparse.reader_pool._MAX_ATTEMPTS", 1000)
    done, chance, kills = threading.Event(), random.Random(3), 0

    def hunt() -> None:
        nonlocal kills
        while not done.wait(chance.uniform(0, 0.1) if kills else 0.001) and kills < 10:
            for child in multiprocessing.active_children():
                assert child.pid is not None
                with suppress(ProcessLookupError):  # it has just left by itself
                    os.kill(child.pid, signal.SIGKILL)
                    kills += 1

    hunter = threading.Thread(target=hunt)
    before = titles(home)
    hunter.start()
    try:
        result = again(home)
    finally:
        done.set()
        hunter.join()
    assert (result.pages, result.unread) == (120, 0)
    assert kills
    assert titles(home) == before
    sound(home)


def test_a_segment_that_crashes_all_readers_is_kept(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.reparse.reader_pool._read", _die)
    before = segment_rows(home, "pages")
    result = again(home)
    assert result.unread == 120
    assert "3 processes died while parsing it" in result.reasons[0].why
    assert segment_rows(home, "pages") == before
    sound(home)


def _die(*_: object) -> None:
    time.sleep(0.01)
    os._exit(9)
