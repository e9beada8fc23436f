"""What do archives hold that other programs wrote?

WARC of any version and ARC, compressed record by record, as a whole, or not at all. Programs write records that are
wrong in many ways: a length that is none, a body cut off, a transfer encoding that was undone long ago. A record that
cannot be read is named and passed over, and reading goes on at the next line that begins one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from periplus.store.unpacked import Unpacked

LONGEST = 64 << 20  # bytes of a record that are read
_LONGEST_LINE = 1 << 16
_MOST_LINES = 1_000  # of a head
_FIRST, _PAST_LAST = -62_135_596_800.0, 253_402_300_800.0  # seconds since the epoch: the years 1 to 9999 in UTC
_LIKE_A_DATE = re.compile(r"\d{4,}-\d\d-\d\d")
_WARC = re.compile(rb"WARC/\d[\d.]*\s*")
_ARC = re.compile(
    rb"(?P<url>\S.*) (?P<ip>\S+) (?P<date>\d{14})\d* (?P<mime>\S+)(?: \S+ \S+ \S+ \d+ \S+)? (?P<length>\d+)\s*"
)


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """One record as it was found."""

    kind: str  # as WARC calls it: response, resource, revisit ...
    url: str
    at: float  # seconds since the epoch; of the file, when the record names a date that is not in the calendar
    mime: str  # of the block
    block: bytes
    position: int  # in the unpacked file
    ip: str = ""
    truncated: bool = False  # something of the block is missing, as it says itself
    redated: bool = False  # `at` is not from the record


@dataclass(frozen=True, slots=True)
class BrokenRecord:
    """A place of a file where no record can be read, and why."""

    position: int
    why: str


def foreign_records(path: Path) -> Iterator[ForeignRecord | BrokenRecord]:
    """Every record of a file, in order; raises OSError when the file cannot be read at all."""
    with Unpacked(path) as source:
        otherwise = path.stat().st_mtime
        lost = -1  # where lines began that belong to no record
        while line := source.line(_LONGEST_LINE):
            at, damages = source.position - len(line), source.damages
            arc = None if _WARC.fullmatch(line) else _ARC.fullmatch(line)
            if arc is None and not _WARC.fullmatch(line):
                lost = at if lost < 0 and line.strip() else lost
                continue
            if lost >= 0:
                yield BrokenRecord(lost, "no record begins here")
                lost = -1
            record = _warc_record(source, at) if arc is None else _arc_record(source, at, arc)
            if isinstance(record, ForeignRecord) and not _FIRST <= record.at < _PAST_LAST:
                record = replace(record, at=otherwise, redated=True)
            if source.damages > damages:
                record = BrokenRecord(at, "the file is damaged in this record")
            yield record
        if lost >= 0:
            yield BrokenRecord(lost, "no record begins here")


def _warc_record(source: Unpacked, at: int) -> ForeignRecord | BrokenRecord:
    fields: dict[str, str] = {}
    for _ in range(_MOST_LINES):
        line = source.line(_LONGEST_LINE)
        if not line.strip():
            break
        name, _, value = line.decode("utf-8", "replace").partition(":")
        fields.setdefault(name.strip().lower(), value.strip())
    length = fields.get("content-length", "")
    if not (length.isascii() and length.isdigit()):
        return BrokenRecord(at, "it does not say how long it is")
    moment = _warc_date(fields.get("warc-date", ""))
    block, whole = _block(source, int(length))
    if not whole:
        return BrokenRecord(at, "the file ends before it does")
    if moment is None:
        return BrokenRecord(at, "it does not say when it was made")
    return ForeignRecord(
        kind=fields.get("warc-type", "").lower(),
        url=fields.get("warc-target-uri", "").strip("<>"),  # some programs take the brackets of the standard literally
        at=moment,
        mime=fields.get("content-type", ""),
        block=block,
        position=at,
        ip=fields.get("warc-ip-address", ""),
        truncated="warc-truncated" in fields or int(length) > LONGEST,
    )


def _arc_record(source: Unpacked, at: int, line: re.Match[bytes]) -> ForeignRecord | BrokenRecord:
    block, whole = _block(source, int(line["length"]))
    moment = _digits(line["date"].decode())
    if not whole:
        return BrokenRecord(at, "the file ends before it does")
    is_http = line["url"].lower().startswith(b"http") and block[:5].upper() == b"HTTP/"
    return ForeignRecord(
        kind="warcinfo" if line["url"].startswith(b"filedesc:") else "response" if is_http else "resource",
        url=line["url"].decode("utf-8", "replace"),
        at=math.inf if moment is None else moment,
        mime="application/http" if is_http else line["mime"].decode("latin-1"),
        block=block,
        position=at,
        ip=line["ip"].decode("latin-1"),
        truncated=int(line["length"]) > LONGEST,
    )


def _block(source: Unpacked, length: int) -> tuple[bytes, bool]:
    """A block as far as it is read, and whether the file holds all of it."""
    block = source.read(min(length, LONGEST))
    return block, len(block) + source.skip(length - len(block)) == length if len(block) else length == 0


def _warc_date(text: str) -> float | None:
    """A date in seconds since the epoch; infinity: it is not in the calendar; None: it is no date."""
    try:
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except ValueError:
        found = _digits(re.sub(r"\D", "", text)[:14])
        return math.inf if found is None and _LIKE_A_DATE.match(text) else found


def _digits(text: str) -> float | None:
    if len(text) != len("20240517093000"):
        return None
    try:
        return datetime.strptime(text, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()
    except ValueError:
        return None
