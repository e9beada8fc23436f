"""How do pages pass between the process behind the fence and the one that asks it?

As JSON, each message after its length. What comes from behind the fence is checked field by field, because a document
may have taken over the process that read it: whatever it says is a page or nothing.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from periplus.config import Parsing
from periplus.model import Page

LENGTH = struct.Struct("<I")  # before every message
LONGEST_ANSWER = 64 << 20


@dataclass(frozen=True, slots=True)
class ParseRules:
    """What the process is told before its first document."""

    settings: Parsing = Parsing()  # noqa: RUF009  # frozen
    tracking: tuple[str, ...] = ()  # parameters of addresses, as the canonicalizer takes them
    sessions: tuple[str, ...] = ()
    links_per_page: int = 1_000


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """A document to read; its bytes follow in a message of their own."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False
    closely: bool = False


@dataclass(frozen=True, slots=True)
class ParseResponse:
    """What came of it; or, before the first document, how well the process is fenced in."""

    page: Page | None = None
    seconds: float = 0.0  # of processor time, of this process so far
    fenced: bool = False


RULES = TypeAdapter(ParseRules)
ORDER = TypeAdapter(ParseRequest)
ANSWER = TypeAdapter(ParseResponse)


def framed(message: bytes) -> bytes:
    """A message as it is sent."""
    return LENGTH.pack(len(message)) + message


def received(exactly: Callable[[int], bytes], longest: int) -> bytes:
    """The next message, read by a function that gives so many bytes."""
    (length,) = LENGTH.unpack(exactly(LENGTH.size))
    if length > longest:
        raise ValueError("the message is too long")
    return exactly(length)
