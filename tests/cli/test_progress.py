"""Progress lines and the log file of a crawl; a log that cannot be written does not stop the crawl."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from crawl.crawling import periplus, reach
from periplus.cli import progress
from periplus.cli.progress import counter_progress, crawl_progress
from periplus.crawl.run import Progress
from testweb import Page, Site, TestWeb

LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO (.*)")


@pytest.fixture
def web() -> Iterator[TestWeb]:
    pages = {"/": Page(links=["/gone", "/moved", "/secret"]), "/moved": Page(redirect="/end"), "/end": Page()}
    with TestWeb([Site("a.test", pages, robots="User-agent: *\nDisallow: /secret")]) as running:
        yield running


def crawl(web: TestWeb, home: Path, log: Path | str) -> str:
    outcome = periplus("crawl", "http://a.test/", "--home", home, "--log-file", log, *reach(web))
    assert outcome.code == 0
    return outcome.err


def test_every_url_that_was_settled_has_its_line(web: TestWeb, tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    assert crawl(web, tmp_path / "home", log) == ""
    matches = [LINE.fullmatch(line) for line in log.read_text().splitlines()]
    assert sorted(match[1].strip() if match else "not a log line" for match in matches) == [
        "dropped http_error 404 http://a.test/gone 404",
        "fetched ok 200 http://a.test/",
        "fetched ok 200 http://a.test/end",
        "merged redirected 302 http://a.test/moved http://a.test/end",
        "refused robots http://a.test/secret robots.txt line 2: Disallow: /secret",
    ]


def test_a_log_is_continued_by_the_next_crawl(web: TestWeb, tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    for number in (1, 2):
        crawl(web, tmp_path / f"home-{number}", log)
        assert len(log.read_text().splitlines()) == 5 * number


def test_a_log_that_cannot_be_written_is_reported_once_and_the_crawl_continues(web: TestWeb, tmp_path: Path) -> None:
    err = crawl(web, tmp_path / "home", "/dev/full")
    assert err == "periplus: the log file /dev/full cannot be written: [Errno 28] No space left on device\n"
    assert web.log.count("a.test", "/end") == 1


def figures(pages: int) -> Progress:
    summary = {
        "fetched": pages,
        "pages_per_second": 12.5,
        "bytes": 2_500_000,
        "queued": 70,
        "errors": {"dns": 2, "x": 1},
    }
    return Progress(summary, under_way=4, buffered=50, hosts=7)


def test_without_a_terminal_there_is_a_line_every_ten_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with crawl_progress(None, quiet=False) as watch:
        for pages in range(1, 8):
            now = pages * 4.0
            watch(figures(pages * 1000))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert lines[0] == (
        "3,000 pages, 2.5 MB, 250.0 pages/s (12.5 on average); 4 active requests, 3 errors; "
        "queue: 50 in memory, 16 on disk, 7 hosts waiting"
    )


def test_the_rate_is_that_of_the_last_seconds(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PLAIN_SECONDS", 0.0)
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with crawl_progress(None, quiet=False) as watch:
        for now, pages in ((1.0, 0), (5.0, 4000), (10.0, 4000), (15.0, 4000), (20.0, 4010)):  # noqa: B007  # read above
            watch(figures(pages))
    rates = [line.split(", ")[2].split()[0] for line in capsys.readouterr().err.splitlines()]
    assert rates == ["12.5", "1000.0", "444.4", "0.0", "1.0"]


@pytest.mark.parametrize(
    ("left", "words"), [(0.4, "0 s left"), (59.0, "59 s left"), (61.0, "1 min 1 s left"), (7300.0, "2 h 1 min left")]
)
def test_the_remaining_time_and_the_round_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, left: float, words: str
) -> None:
    monkeypatch.setattr(progress, "_PLAIN_SECONDS", 0.0)
    with crawl_progress(None, quiet=False) as watch:
        watch(replace(figures(5), left=left, round=2))
    line = capsys.readouterr().err
    assert line.startswith("round 2: 5 pages, ")
    assert f", {words}; " in line


def test_a_pause_is_said_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with crawl_progress(None, quiet=False) as watch:
        watch(figures(5))
        watch(replace(figures(5), is_paused=True))
        watch(replace(figures(5), is_paused=True))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("paused (`periplus resume` continues): 5 pages, ")


def test_with_json_no_progress_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PLAIN_SECONDS", 0.0)
    with crawl_progress(None, quiet=True) as watch:
        watch(figures(1))
    assert capsys.readouterr().err == ""


def test_the_time_left_of_an_index_counts_from_its_first_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables are joined before the first page; those seconds say nothing about the speed of pages."""
    now, lines = 0.0, list[str]()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(progress, "_live", lambda _: nullcontext(lines.append))
    with counter_progress("indexing", "pages") as show:
        for now, done in ((60.0, 500), (61.0, 1_500), (62.0, 2_500), (63.0, 100_500), (64.0, 100_500)):  # noqa: B007
            show(done, 100_500)
    assert lines[:3] == [
        "indexing: 500 of 100,500 pages",
        "indexing: 1,500 of 100,500 pages (1,000/s, 1 min 39 s left)",
        "indexing: 2,500 of 100,500 pages (1,000/s, 1 min 38 s left)",
    ]
    assert lines[-1] == "indexing: 100,500 pages, completing the files"
