"""Parses the dates of sitemaps, feeds and pages.

Sitemaps and Atom use W3C dates (``2024-05-17T09:30+02:00`` or a part of it), RSS uses e-mail dates (``Fri, 17 May 2024
09:30:00 +0200``); many deviate from both. A date without a zone is UTC, a date without a time is midnight. Dates before
the web are ignored, because software writes ``0001-01-01`` and ``1970-01-01`` for an unknown date.
"""

from __future__ import annotations

import calendar
import re
from datetime import date

_LONGEST = 64  # characters; longer text is not a date
_OLDEST_YEAR = 1990
_FARTHEST_ZONE = 15 * 3_600  # seconds from UTC; the farthest in use is 14 hours
_CENTURY_TURN = 70  # two-digit years from 70 on are 19xx

_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d*)?)?"
_ZONE = r"(?P<zone>[a-z]{1,5})?\s*(?:(?P<sign>[+-])(?P<ahead>\d\d?)(?::?(?P<more>\d\d))?)?\s*(?:[(\[].*)?"
_W3C = re.compile(
    rf"(?P<year>\d{{4}})(?:[-/.]?(?P<month>\d\d)(?:[-/.]?(?P<day>\d\d)(?:(?:t|\s+){_TIME}\s*{_ZONE})?)?)?",
    re.IGNORECASE | re.ASCII,
)
_NAME = r"(?P<{}>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_MAIL = re.compile(
    r"(?:[^\s\d,]+,?\s*(?<=[\s,]))?"
    rf"(?:(?P<day>\d{{1,2}})[\s-]+{_NAME.format('name')}|{_NAME.format('first')}\s+(?P<second_day>\d{{1,2}})),?[\s-]+"
    rf"(?P<year>\d{{4}}|\d\d)(?:,?\s+{_TIME})?\s*{_ZONE}",
    re.IGNORECASE | re.ASCII,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ZONES = {"est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7, "mdt": -6, "pst": -8, "pdt": -7}  # those of RFC 822


def epoch(text: str) -> float | None:
    """The seconds since 1970 of a date in either format; None if it is not a date. Never raises."""
    text = text[: _LONGEST * 2].strip()
    if not text or len(text) > _LONGEST:
        return None
    if found := _W3C.fullmatch(text):
        return _seconds(found, int(found["year"]), int(found["month"] or 1), int(found["day"] or 1))
    if found := _MAIL.fullmatch(text):
        month = _MONTHS.index((found["name"] or found["first"]).lower()) + 1
        return _seconds(found, _full_year(found["year"]), month, int(found["day"] or found["second_day"]))
    return None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    return year + (1900 if year >= _CENTURY_TURN else 2000)


def _seconds(found: re.Match[str], year: int, month: int, day: int) -> float | None:
    hour, minute, second = (int(found[part] or 0) for part in ("hour", "minute", "second"))
    ahead = _ahead(found)
    # Allows the leap second 23:59:60, and 24:00 for midnight.
    if year < _OLDEST_YEAR or hour > 24 or minute > 59 or second > 60 or abs(ahead) > _FARTHEST_ZONE:
        return None
    try:
        date(year, month, day)
    except ValueError:
        return None
    return float(calendar.timegm((year, month, day, hour, minute, second)) - ahead)


def _ahead(found: re.Match[str]) -> int:
    """The seconds that the zone is ahead of UTC; an unknown zone is UTC (RFC 5322)."""
    if not found["sign"]:
        return _ZONES.get((found["zone"] or "").lower(), 0) * 3_600
    seconds = int(found["ahead"]) * 3_600 + int(found["more"] or 0) * 60
    return -seconds if found["sign"] == "-" else seconds
