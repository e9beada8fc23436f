"""What does a person see while the crawl goes on?"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.text import Text

from periplus.cli.output import printable, size
from periplus.crawl.start import Progress
from periplus.errors import UsageError

_PLAIN_EVERY = 10.0  # seconds between two lines where there is no terminal


@contextmanager
def watching(log_file: Path | None, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Show progress on stderr: one live line on a terminal, a line now and then elsewhere."""
    with _logging_to(log_file):
        if quiet and not sys.stderr.isatty():
            yield lambda _: None
        elif sys.stderr.isatty():
            with Live(Text("starting"), console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
                yield lambda progress: live.update(Text(_line(progress)))
        else:
            yield _plain()


def _plain() -> Callable[[Progress], None]:
    last = time.monotonic()

    def show(progress: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= _PLAIN_EVERY:
            last = time.monotonic()
            sys.stderr.write(_line(progress) + "\n")

    return show


def _line(progress: Progress) -> str:
    figures = progress.summary
    errors = sum(figures["errors"].values())
    on_disk = max(figures["queued"] - progress.buffered - progress.under_way, 0)
    return (
        f"{figures['fetched']:,} pages ({figures['pages_per_second']:.1f}/s, {size(figures['bytes'])})  "
        f"{progress.under_way} under way  queue {progress.buffered:,} in memory, {on_disk:,} on disk  {errors:,} errors"
    )


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
        with suppress(OSError):  # told already
            handler.close()


class _LogFile(logging.FileHandler):
    """A log that cannot be written is told once; the crawl goes on without it."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  # the name is the library's
        del record
        logging.getLogger("periplus").removeHandler(self)
        sys.stderr.write(
            f"periplus: the log file {printable(self.baseFilename)} cannot be written: {sys.exc_info()[1]}\n"
        )


class _OneLine(logging.Formatter):
    """Crawled text cannot forge a log line."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


@contextmanager
def counting(what: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Show how much of a known amount is done, on a terminal; elsewhere long work stays silent."""
    if not sys.stderr.isatty():
        yield lambda _done, _total: None
        return
    started = time.monotonic()
    with Live(Text(what), console=Console(stderr=True), transient=True, refresh_per_second=4) as live:

        def show(done: int, total: int) -> None:
            rate = done / max(time.monotonic() - started, 1e-9)
            left = (total - done) / rate if rate else 0.0
            live.update(Text(f"{what}: {done:,} of {total:,} {unit} ({rate:,.0f}/s, {left:.0f} s left)"))

        yield show
