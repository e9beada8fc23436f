"""What does the reader ask for?

A number outside its range is moved to the nearest one inside, because the reader's wish is plain; anything else that
is wrong is answered with a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from periplus.errors import UsageError

QUERY_LENGTH = 2_048  # characters the box takes; the engine says what it does with more
URL_LENGTH = 4_096
PAGES = 100
SIZE = 15
LARGEST_SIZE = 100
_NUMBER = re.compile(r"([+-]?)0*([0-9]+)")
_DIGITS = 9  # a longer number is far outside every range
_SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
_MODES = ("auto", "and", "or")


@dataclass(frozen=True, slots=True)
class SearchParameters:
    """One question to the engine."""

    query: str
    page: int = 1
    size: int = SIZE
    explain: bool = False
    mode: str = "auto"

    def link(self, page: int = 1, query: str | None = None, mode: str | None = None) -> str:
        """The address of another page of this search, or of a variation of it; the same search, the same address."""
        parts: dict[str, str | int] = {"q": self.query if query is None else query}
        if (mode or self.mode) != "auto":
            parts["mode"] = mode or self.mode
        if self.size != SIZE:
            parts["size"] = self.size
        if page > 1:
            parts["page"] = page
        return f"/search?{urlencode(parts)}"


def read(parameters: Mapping[str, str]) -> SearchParameters:
    """The question in the query part of an address."""
    return SearchParameters(
        parameters.get("q", "").strip(),
        _number("page", parameters.get("page", ""), 1, PAGES),
        _number("size", parameters.get("size", ""), SIZE, LARGEST_SIZE),
        _switch("explain", parameters.get("explain", "")),
        _choice("mode", parameters.get("mode", "")),
    )


def read_url(parameters: Mapping[str, str]) -> str:
    """The address of the page whose archived copy is asked for."""
    url = parameters.get("url", "").strip()
    if not url:
        raise UsageError("no page is named", hint="Write its address after /cached?url=.")
    if len(url) > URL_LENGTH:
        raise UsageError(f"the address has {len(url):,} characters", f"none longer than {URL_LENGTH:,} is archived")
    return url


def _number(name: str, text: str, default: int, largest: int) -> int:
    if not text:
        return default
    found = _NUMBER.fullmatch(text)
    if not found:
        raise UsageError(f"{name} {_short(text)} is not a whole number", hint=f"It is from 1 to {largest}.")
    sign, digits = found.groups()
    size = int(digits[:_DIGITS]) if len(digits) <= _DIGITS else largest
    return 1 if sign == "-" else min(max(size, 1), largest)


def _switch(name: str, text: str) -> bool:
    if text and text.lower() not in _SWITCH:
        raise UsageError(f"{name} {_short(text)} is neither on nor off", hint="Write 1 or 0.")
    return _SWITCH.get(text.lower(), False)


def _choice(name: str, text: str) -> str:
    if text and text not in _MODES:
        raise UsageError(f"{name} {_short(text)} is not known", hint=f"It is one of {', '.join(_MODES)}.")
    return text or _MODES[0]


def _short(text: str) -> str:
    return f'"{text}"' if len(text) <= 40 else f'"{text[:40]}…"'
