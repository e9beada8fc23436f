"""How is data shown: to a person, or to a program?

How is a person told about pages that could not be read again, or not as a whole?
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from periplus.reparse import Reparsed

_NO_TERMINAL = 1_000_000  # columns; where nobody looks, a value is not broken into lines


def print_json(value: Mapping[str, Any] | Sequence[Any]) -> None:
    """One JSON object or list on stdout; what could move a cursor is escaped, and means the same to a program."""
    text = json.dumps(value, ensure_ascii=False)
    if not text.isprintable():
        text = "".join(character if character.isprintable() else json.dumps(character)[1:-1] for character in text)
    typer.echo(text)


def print_table(rows: Iterable[tuple[str, ...]], headings: tuple[str, ...] = ()) -> None:
    """Rows of text on stdout; control characters of crawled text never reach the terminal."""
    table = Table(*headings, show_header=bool(headings), box=None, pad_edge=False, padding=(0, 2, 0, 0))
    if not headings:
        for _ in range(2):
            table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    Console(soft_wrap=False, width=None if sys.stdout.isatty() else _NO_TERMINAL).print(table)


def printable(text: str) -> str:
    """Text with everything that could move a cursor or forge a line made visible."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def moment(seconds: float | None) -> str:
    """A point in time, in local time."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds)) if seconds else "-"


def duration(seconds: float) -> str:
    """A length of time, for people."""
    for name, length in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 1.5 * length:
            return f"{seconds / length:.3g} {name}"
    return f"{seconds:.0f} s"


def size(count: float) -> str:
    """A number of bytes, for people."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def by_count(counts: Mapping[str, int]) -> str:
    """`12 robots, 3 scope_host`, or a dash."""
    return ", ".join(f"{number:,} {name}" for name, number in counts.items()) or "-"


def summary_rows(figures: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The figures of a run."""
    kinds = f"{figures['html']:,} HTML, {figures['pdf']:,} PDF"
    unchanged, revisits = figures.get("unchanged", 0), figures.get("revisits", 0)
    return [
        ("fetched", f"{figures['fetched']:,} pages, {size(figures['bytes'])} ({kinds})"),
        *([("due again", f"{revisits:,} pages")] if revisits else []),
        *([("unchanged", f"{unchanged:,} pages")] if unchanged else []),
        ("time", f"{figures['seconds']:.1f} s, {figures['pages_per_second']:.1f} pages/s"),
        ("known", f"{figures['known_urls']:,} URLs, {figures['queued']:,} still queued"),
        ("errors", by_count(figures["errors"])),
        *[("internal error", _exception(kind, found)) for kind, found in figures.get("exceptions", {}).items()],
        *([("not extracted", _failed_extractors(names))] if (names := figures.get("failed_extractors")) else []),
        ("refused", by_count(figures["refused"])),
        *([("parked", _parked(parked))] if (parked := figures.get("parked")) else []),
        *([("skipped", _skipped(traps))] if (traps := figures.get("traps")) and traps["saved"] else []),
    ]


def _parked(hosts: Mapping[str, int]) -> str:
    return f"{by_count(hosts)} ({sum(hosts.values()):,} hosts left for the next run; their URLs stay queued)"


def _skipped(traps: Mapping[str, int]) -> str:
    urls = f"{traps['saved']:,} URLs of suspected traps ({traps['learned']:,} patterns learned in this run)"
    return f"{urls}; `periplus traps` lists them, --no-traps fetches them"


def _exception(kind: str, found: Mapping[str, Any]) -> str:
    pages = "1 page" if found["pages"] == 1 else f"{found['pages']:,} pages"
    return f"{pages}: {kind}, first {found['first']} (please report it, with what --log-file says about this page)"


def _failed_extractors(names: Mapping[str, int]) -> str:
    return f"{by_count(names)} (pages by field; these fields could not be extracted and are empty)"


_NAMED = 3


def warn_about_unread(reading: Reparsed) -> None:
    """Say on stderr how many pages stay as they were and why, and which fields of pages could not be extracted."""
    if reading.unread:
        _tell_pages(reading)
    if reading.failed_extractors:
        sys.stderr.write(
            f"periplus: some fields could not be extracted and are empty: {by_count(reading.failed_extractors)} "
            "(pages by field). This is an error of Periplus: please report it with one of the pages.\n"
        )


def _tell_pages(reading: Reparsed) -> None:
    pages = "1 page" if reading.unread == 1 else f"{reading.unread:,} pages"
    named = "; ".join(f"{entry.what} ({entry.why})" for entry in reading.reasons[:_NAMED])
    more = "; ..." if len(reading.reasons) > _NAMED else ""
    sys.stderr.write(
        printable(f"periplus: {pages} could not be read again and stay as they were: {named}{more}. ")
        + "`periplus verify` names damaged files; `periplus reparse --everything` tries again.\n"
    )
