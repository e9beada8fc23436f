"""Shows the progress of long commands on stderr, and writes the log file of a crawl."""

from __future__ import annotations

import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.live import Live
from rich.text import Text

from periplus.cli.output import plural, printable, size
from periplus.errors import UsageError

if TYPE_CHECKING:
    from periplus.crawl.run import Progress  # the crawler takes 0.1 s to import, and other commands use this module

_PLAIN_SECONDS = 10.0  # between two progress lines when stderr is not a terminal
_REDRAW_SECONDS = 0.25  # between two updates of a live line
_RATE_SECONDS = 10.0  # window of the current rate


@contextmanager
def crawl_progress(log_file: Path | None, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Shows progress on stderr: live lines on a terminal, otherwise one line every 10 seconds."""
    meter = _RateMeter()
    with _logging_to(log_file):
        if quiet and not sys.stderr.isatty():
            yield lambda _: None
        elif sys.stderr.isatty():
            with _live("starting") as show:
                yield lambda progress: show("\n".join(_parts(progress, meter.rate(progress))))
        else:
            yield _plain_lines(meter)


@contextmanager
def step_progress(*, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Shows the current step on stderr: one live line on a terminal, otherwise one line per step."""
    if sys.stderr.isatty():
        with Live(Text("starting"), console=Console(stderr=True), transient=True, refresh_per_second=8) as live:
            yield lambda step: live.update(Text(step))
    elif quiet:
        yield lambda _: None
    else:
        yield lambda step: typer.echo(step, err=True)


@contextmanager
def _live(text: str) -> Iterator[Callable[[str], None]]:
    """Live lines without a refresh thread, because the crawl forks processes meanwhile."""
    with Live(Text(text), console=Console(stderr=True), transient=True, auto_refresh=False) as live:
        live.refresh()
        yield lambda text: live.update(Text(text), refresh=True)


def _plain_lines(meter: _RateMeter) -> Callable[[Progress], None]:
    last, was_paused = time.monotonic(), False

    def show(progress: Progress) -> None:
        nonlocal last, was_paused
        rate = meter.rate(progress)
        if time.monotonic() - last >= _PLAIN_SECONDS or progress.is_paused != was_paused:
            last, was_paused = time.monotonic(), progress.is_paused
            sys.stderr.write("; ".join(_parts(progress, rate)) + "\n")
            sys.stderr.flush()

    return show


class _RateMeter:
    """Measures the current rate; after an hour, the mean since the start says little."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def rate(self, progress: Progress) -> float:
        """Pages per second over the last 10 seconds."""
        now, pages = time.monotonic(), progress.summary["fetched"]
        self._seen.append((now, pages))
        while len(self._seen) > 2 and now - self._seen[0][0] > _RATE_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        return (pages - before) / (now - since) if now > since else float(progress.summary["pages_per_second"])


def _parts(progress: Progress, rate: float) -> list[str]:
    """Three parts: pages, requests and queue."""
    figures = progress.summary
    on_disk = max(figures["queued"] - progress.buffered - progress.under_way, 0)
    round_ = f"round {progress.round}: " if progress.round else ""
    left = f", {_duration(progress.left)} left" if progress.left is not None else ""
    speed = f"{rate:.1f} pages/s ({figures['pages_per_second']:.1f} on average)"
    paused = "paused (`periplus resume` continues): " if progress.is_paused else ""
    return [
        f"{paused}{round_}{plural(figures['fetched'], 'page')}, {size(figures['bytes'])}, {speed}{left}",
        f"{plural(progress.under_way, 'active request')}, {plural(sum(figures['errors'].values()), 'error')}",
        f"queue: {progress.buffered:,} in memory, {on_disk:,} on disk, {plural(progress.hosts, 'host')} waiting",
    ]


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def _logging_to(path: Path | None) -> Iterator[None]:
    if path is None:
        yield
        return
    try:
        handler = _LogFile(path, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the log file {path} cannot be written", error.strerror or str(error)) from error
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("periplus")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        with suppress(OSError):  # _LogFile has reported it
            handler.close()


class _LogFile(logging.FileHandler):
    """Reports once that the log cannot be written; the crawl continues without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is the library's
        del record
        logging.getLogger("periplus").removeHandler(self)
        sys.stderr.write(
            f"periplus: the log file {printable(self.baseFilename)} cannot be written: {sys.exc_info()[1]}\n"
        )


class _OneLine(logging.Formatter):
    """Escapes control characters, so crawled text cannot forge a log line."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


@contextmanager
def counter_progress(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a counter with the time left on a terminal; shows nothing otherwise."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    first: tuple[float, int] | None = None  # when the first items were done, and how many
    drawn = time.monotonic()
    with _live(what) as draw:

        def show(done: int, total: int) -> None:
            nonlocal first, drawn
            now = time.monotonic()
            if now - drawn < _REDRAW_SECONDS and done < total:
                return
            drawn = now
            first = first or (now, done)
            draw(_count(what, unit, done, total, (done - first[1]) / max(now - first[0], 1e-9)))

        yield show


def _count(what: str, unit: str, done: int, total: int, rate: float) -> str:
    """A counter with its rate, and the time left at this rate."""
    if done == total:
        return f"{what}: {total:,} {unit}, completing the files"
    speed = f" ({rate:,.0f}/s, {_duration((total - done) / rate)} left)" if rate else ""
    return f"{what}: {done:,} of {total:,} {unit}{speed}"
