"""Prepares crawled text, URLs and times for the templates of all sites.

Functions return plain text, which the templates escape, or a URL that was checked to be http or https.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_WEB_ADDRESS = re.compile(r"https?://[^\x00-\x20\x7f<>\"]+", re.IGNORECASE)
_INVISIBLE = frozenset({"Cc", "Cs"})  # Unicode categories: control characters and surrogates
_BIDI_CONTROLS = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def visible(text: str) -> str:
    """Text without control characters and without characters that change the text direction."""
    if text.isascii() and text.isprintable():
        return text
    seen = (" " if unicodedata.category(character) in _INVISIBLE else character for character in text)
    return "".join(character for character in seen if character not in _BIDI_CONTROLS)


def visible_lines(text: str) -> str:
    """Visible text that keeps its line breaks; a tab becomes four spaces."""
    return "\n".join(visible(line.replace("\t", "    ")) for line in text.split("\n"))


def shortened(text: str, length: int = 60) -> str:
    """Visible text of at most this length."""
    text = visible(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"


def web_link(url: str) -> str:
    """The URL if it is http or https, otherwise an empty string."""
    return url if _WEB_ADDRESS.fullmatch(url) else ""


def moment(seconds: float) -> str:
    """Date and time in ISO 8601, for the `datetime` attribute."""
    at = utc(seconds)
    return f"{at:%Y-%m-%dT%H:%M:%SZ}" if at else ""


def utc(seconds: float) -> datetime | None:
    """A time since the epoch; None when it is not a date."""
    try:
        return datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return None
