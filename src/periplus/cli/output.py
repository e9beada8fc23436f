"""Formats output: JSON for programs, tables for people, and warnings on stderr."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from periplus.reparse import Reparsed

_with_json: WeakSet[Any] = WeakSet()  # output streams that have a JSON object; a command prints one at most
_NO_TERMINAL = 1_000_000  # columns: values are wrapped only on a terminal


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """Prints one JSON object or list on stdout, with control characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)
    typer.echo(text)
    _with_json.add(sys.stdout)


def has_printed_json() -> bool:
    """Whether the command has printed its JSON object already."""
    return sys.stdout in _with_json


def print_table(rows: Iterable[tuple[str, ...]], headings: tuple[str, ...] = ()) -> None:
    """Prints rows on stdout, with the control characters of crawled text escaped."""
    table = Table(*headings, show_header=bool(headings), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    if not headings:
        for _ in range(2):
            table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(soft_wrap=False, width=None if sys.stdout.isatty() else _NO_TERMINAL).print(table)


def printable(text: str) -> str:
    """Text with control characters escaped: crawled text must not move the cursor or start a new line."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def moment(seconds: float | None) -> str:
    """Date and time in the local time zone, or a dash."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else "-"


def duration(seconds: float) -> str:
    """A duration with its unit, such as `3 days`."""
    for name, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.0f} s"


def size(count: float) -> str:
    """A number of bytes with its unit, such as `3.1 MB`."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def plural(count: int, noun: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def by_count(counts: Mapping[str, int]) -> str:
    """`12 robots, 3 scope_host`, or a dash."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "-"


def summary_rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Table rows with the figures of a crawl run."""
    kinds = f"{figures['html']:,} HTML, {figures['pdf']:,} PDF"
    unchanged, revisits = figures.get("unchanged", 0), figures.get("revisits", 0)
    return [
        ("fetched", f"{plural(figures['fetched'], 'page')}, {size(figures['bytes'])} ({kinds})"),
        *([("recrawled", plural(revisits, "page"))] if revisits else []),
        *([("unchanged", plural(unchanged, "page"))] if unchanged else []),
        ("time", f"{figures['seconds']:.1f} s, {figures['pages_per_second']:.1f} pages/s"),
        ("known", f"{plural(figures['known_urls'], 'URL')}, {figures['queued']:,} still queued"),
        ("errors", by_count(figures["errors"])),
        *[("internal error", _exception(kind, found)) for kind, found in figures.get("exceptions", {}).items()],
        *([("not extracted", _failed_extractors(names))] if (names := figures.get("failed_extractors")) else []),
        ("refused", by_count(figures["refused"])),
        *([("parked", _parked(parked))] if (parked := figures.get("parked")) else []),
        *([("skipped", _skipped(traps))] if (traps := figures.get("traps")) and traps["saved"] else []),
    ]


def _parked(hosts: Mapping[str, int]) -> str:
    return f"{by_count(hosts)} ({plural(sum(hosts.values()), 'host')} postponed to the next run; URLs stay queued)"


def _skipped(traps: Mapping[str, int]) -> str:
    learned = f"{plural(traps['learned'], 'pattern')} learned in this run; listed by `periplus traps`"
    return f"{plural(traps['saved'], 'look-alike URL')} ({learned}); fetch them anyway: --no-traps"


def _exception(kind: str, found: Mapping[str, Any]) -> str:
    pages = plural(found["pages"], "page")
    return f"{pages}: {kind}, first {found['first']} (please report it with the --log-file line of this page)"


def _failed_extractors(names: Mapping[str, int]) -> str:
    return f"{by_count(names)} (pages per field; these fields are empty because of an internal error)"


_NAMED = 3


def warn_about_unread(reading: Reparsed) -> None:
    """Warns on stderr about pages that could not be reparsed and fields that could not be extracted."""
    if reading.unread:
        _warn_about_pages(reading)
    if reading.failed_extractors:
        sys.stderr.write(
            f"periplus: some fields could not be extracted and are empty: {by_count(reading.failed_extractors)} "
            "(pages per field). This is a bug in Periplus: please report it with one of the pages.\n"
        )


def _warn_about_pages(reading: Reparsed) -> None:
    pages = plural(reading.unread, "page")
    named = "; ".join(f"{entry.what} ({entry.why})" for entry in reading.reasons[:_NAMED])
    more = "; ..." if len(reading.reasons) > _NAMED else ""
    sys.stderr.write(
        printable(f"periplus: {pages} could not be reparsed and kept the old text: {named}{more}. ")
        + "`periplus repair` rebuilds damaged files; `periplus reparse --everything` retries.\n"
    )
