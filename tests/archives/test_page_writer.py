"""Imported pages survive a kill like fetched ones."""

from __future__ import annotations

import signal
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from crawl.crawling import sound
from killing import Countdown, in_a_fork
from periplus.archives.importer import import_archives
from periplus.archives.page_writer import PageWriter
from periplus.config import Settings, Storage
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from store.warcs import packed, page

PAGES = 700
SETTINGS = Settings(store=Storage(archive_bytes=60_000, segment_bytes=20_000))  # several files of everything


def _import(home: Path, file: Path, calls: int = 0) -> int:
    if calls:
        sys.setprofile(Countdown(calls, PageWriter.finish.__code__))
    return import_archives(home, SETTINGS, [file]).pages


@pytest.mark.slow
def test_an_import_killed_at_any_moment_is_continued_by_the_same_command(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "file.warc.gz"
    file.write_bytes(packed(*(page(f"page {number}", f"http://example.org/{number}") for number in range(PAGES))))
    killed = 0
    for calls in (500, 5_000, 20_000, 50_000, 90_000, 140_000, 200_000):
        ended_by, _ = in_a_fork(partial(_import, home, file, calls))
        killed += ended_by == signal.SIGKILL
    assert killed >= 5
    _import(home, file)
    with closing(open_catalog(open_collection(home))) as catalog:
        assert catalog.counters()["done"] == catalog.counters()["fetched"] == PAGES
        assert len(catalog.archives()) > 1
    sound(home)
