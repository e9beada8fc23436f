"""The messages between the sandboxed child process and its parent.

Messages are JSON, each after its length. The parent validates every field of a response, because a document may have
taken over the child.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from pydantic import TypeAdapter

from periplus.config import Parsing
from periplus.model import Page

LENGTH = struct.Struct("<I")  # before every message
MAX_RESPONSE = 64 << 20


@dataclass(frozen=True, slots=True)
class ParseRules:
    """The parsing rules, sent to the child before its first document."""

    settings: Parsing = Parsing()  # noqa: RUF009  # frozen
    tracking: tuple[str, ...] = ()  # URL parameters, as the canonicalizer takes them
    sessions: tuple[str, ...] = ()
    links_per_page: int = 1_000


@dataclass(frozen=True, slots=True)
class ParseRequest:
    """A document to parse; its body follows in a second message."""

    url: str
    headers: dict[str, str] = field(default_factory=dict)
    truncated: bool = False
    full: bool = False  # False: the quick parse of `PageParser.skim`


@dataclass(frozen=True, slots=True)
class ParseResponse:
    """The parsed page; the first response has no page and reports whether seccomp is active."""

    page: Page | None = None
    seconds: float = 0.0  # of CPU time used by the child so far
    has_seccomp: bool = False


RULES = TypeAdapter(ParseRules)
REQUEST = TypeAdapter(ParseRequest)
RESPONSE = TypeAdapter(ParseResponse)


def framed(message: bytes) -> bytes:
    """The message with its length in front."""
    return LENGTH.pack(len(message)) + message


def received(exactly: Callable[[int], bytes], longest: int) -> bytes:
    """The next message; *exactly* reads the given number of bytes."""
    (length,) = LENGTH.unpack(exactly(LENGTH.size))
    if length > longest:
        raise ValueError("the message is too long")
    return exactly(length)
