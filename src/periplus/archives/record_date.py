"""Reads the date of a WARC or ARC record.

Programs write dates in many forms; `parse_date` reads the common ones. A record without a readable date gets a
fallback date, so that its page is not lost. The first of these sources is used: the Date header of the response, the
date of the previous record, the modification time of the file. The record names the source.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from periplus.parse.dates import epoch

_DAY_OF_YEAR = "day of the year in WARC-Date"
_HTTP_DATE = "Date header of the response"
_PREVIOUS_RECORD = "date of the previous record"
_FILE_TIME = "modification time of the file"

_FIRST, _PAST_LAST = -62_135_596_800.0, 253_402_300_800.0  # seconds since the epoch: the years 1 to 9999 in UTC
_ORDINAL = re.compile(r"(\d{4})-(?:(\d\d)-)?(\d{3})(?=[T\s]|$)")  # some programs write %j instead of %d
_LOOSE = re.compile(
    r"(\d{4})\D?(\d\d)\D?(\d\d)\D{0,3}(\d\d)\D?(\d\d)(?:\D?(\d\d)(?:\d{3})?)?(?!\d)(?:\s*([+-]\d\d:?\d\d)(?!\d))?"
)
_RUN_ON = re.compile(r"\d{9}|\d{4}-\d\d-\d{3}")  # fromisoformat takes any character as separator, also a digit
_SHORTEST = len("2024-05-1")  # a year or month alone is no date of a record
_DATE_HEADER = re.compile(rb"^date[ \t]*:[ \t]*([^\r\n]{1,64})", re.IGNORECASE | re.MULTILINE)


class RecordDate(NamedTuple):
    """The date of a record, and where it comes from."""

    at: float  # seconds since the epoch
    source: str = ""  # of a fallback; empty: the record states this date


class FallbackDates:
    """Finds the date of each record of one file without a readable date."""

    def __init__(self, file_time: float) -> None:
        self._latest = RecordDate(file_time, _FILE_TIME)

    def use(self, known: RecordDate) -> None:
        """Remember the date of a record, for those after it."""
        if not known.source:
            self._latest = RecordDate(known.at, _PREVIOUS_RECORD)

    def find(self, http_head: bytes) -> RecordDate:
        """Find the date of a record; *http_head* is the head of its response, or empty."""
        header = _DATE_HEADER.search(http_head)
        at = epoch(header[1].decode("latin-1")) if header else None
        return self._latest if at is None or at > time.time() else RecordDate(at, _HTTP_DATE)


def parse_date(text: str) -> RecordDate | None:
    """Parse the date of a record; None for anything else. A date without a zone is UTC."""
    if ordinal := _ORDINAL.match(text):
        day = _day_of_year(int(ordinal[1]), int(ordinal[3]))
        if day is None or (ordinal[2] and int(ordinal[2]) != day.month):
            return None
        at, source = _iso_date(f"{day}{text[ordinal.end() :]}"), _DAY_OF_YEAR
    else:
        at, source = _iso_date(text) or _loose_date(text), ""
    return RecordDate(at, source) if at is not None and _FIRST <= at < _PAST_LAST else None


def _day_of_year(year: int, number: int) -> date | None:
    try:
        day = date(year, 1, 1) + timedelta(days=number - 1)
    except (OverflowError, ValueError):
        return None
    return day if day.year == year else None


def _iso_date(text: str) -> float | None:
    """The seconds since the epoch of a date in the format of ISO 8601."""
    if _RUN_ON.match(text):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def _loose_date(text: str) -> float | None:
    """The seconds since the epoch of a date with other separators or none, or of an e-mail date."""
    if loose := _LOOSE.match(text):
        year, month, day, hour, minute, second, zone = loose.groups(default="")
        return _iso_date(f"{year}-{month}-{day}T{hour}:{minute}:{second or '00'}{zone}")
    return epoch(text) if len(text) >= _SHORTEST else None
