"""Writes and reads the time of a version in a URL: 14 digits, such as 20260304050500."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime

from periplus.errors import UsageError

_FORMAT = "%Y%m%d%H%M%S"
_DIGITS = re.compile(r"[0-9]{14}")


def version_time(seconds: float) -> str:
    """The time of a version, for a URL; empty for a time that no version has."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):{_FORMAT}}"
    except (OverflowError, ValueError, OSError):
        return ""


def read_version_time(text: str) -> float | None:
    """The time in a URL, in seconds; None when it is missing."""
    if not text:
        return None
    with suppress(ValueError):
        if _DIGITS.fullmatch(text):
            return datetime.strptime(text, _FORMAT).replace(tzinfo=UTC).timestamp()
    raise UsageError("invalid time of a version", hint="It has 14 digits: 20260304050500.")
