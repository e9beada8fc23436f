"""An open page is told what changes, and stops when the site stops."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from console.filled import Filling, fill, showing
from periplus.store.catalog.live_state import LiveState
from periplus.store.database.sqlite_database import SqliteDatabase
from web.serving import Site


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path / "home", Filling(hosts=2))
    return tmp_path / "home"


@contextmanager
def following(site: Site, view: str) -> Iterator[Iterator[Any]]:
    """The events of a page."""
    client = http.client.HTTPConnection(site.host, site.port, timeout=30)
    client.request("GET", f"/console/events?view={view}")
    answer = client.getresponse()
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"

    def events() -> Iterator[Any]:
        while line := answer.readline():
            if line.startswith(b"data: "):
                yield json.loads(line[6:])

    try:
        yield events()
    finally:
        client.close()


def test_the_overview_gets_its_parts_and_the_newest_point_of_every_chart(home: Path) -> None:
    with showing(home) as site, following(site, "overview") as events:
        first = next(events)
        assert first["parts"].keys() == {"live-state", "live-figures"}
        assert "running, 2 workers" in first["parts"]["live-state"]
        assert first["point"]["values"].keys() == {"pages", "bytes", "queue", "errors", "types", "freshness"}
        with closing(LiveState(SqliteDatabase(home / "crawl.db"))) as live:
            live.add_sample(time.time() + 5, {"pages": 10**9, "queued_disk": 77})
        later = next(event for event in events if event["point"]["at"] > first["point"]["at"])
        assert later["point"]["values"]["queue"][0] == 77


def test_only_what_has_changed_is_sent_again(home: Path) -> None:
    with showing(home) as site, following(site, "overview") as events:
        next(events)
        assert next(events)["parts"].get("live-figures") is None


def test_workers_are_sent_as_the_page_shows_them(home: Path) -> None:
    with showing(home) as site:
        page = site.get("/console/workers").text
        with following(site, "workers") as events:
            sent = next(events)["parts"]["live-nodes"]
    assert "https://h009.example.org/" in sent
    assert next(line for line in sent.splitlines() if "<th" in line) in page


def test_there_are_no_events_of_other_pages(home: Path) -> None:
    with showing(home) as site:
        assert site.get("/console/events?view=hosts").status == 404
        assert site.get("/console/events").status == 404


def test_an_open_page_does_not_keep_the_site_from_stopping(home: Path) -> None:
    with showing(home) as site:
        client = http.client.HTTPConnection(site.host, site.port, timeout=30)
        client.request("GET", "/console/events?view=overview")
        answer = client.getresponse()
        answer.readline()
        began = time.monotonic()
    assert time.monotonic() - began < 4.5  # the server would cancel it after 5 seconds
    assert answer.read().count(b"data: ") <= 1
    client.close()
