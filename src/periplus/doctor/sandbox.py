"""How well is a parser fenced in that a hostile document has taken over?

Tried, not read off a version: the process that reads PDFs is started, and tells how far its fence could be shut.
"""

from __future__ import annotations

from contextlib import closing

from periplus.doctor.check import Check, Grade
from periplus.parse.sandbox.parent import Warden
from periplus.parse.sandbox.protocol import Rules

_ADVICE = "Crawl sites that you do not trust inside a virtual machine."


def sandbox() -> Check:
    """The level that is reached on this machine."""
    with closing(Warden(Rules())) as warden:
        try:
            fenced = warden.fenced
        except (EOFError, OSError, ValueError) as error:
            return Check("sandbox", Grade.BAD, f"the process that reads PDFs does not start: {error!r}", _ADVICE)
    if fenced:
        found = "full: the process that reads PDFs may open no file, no connection and no process"
        return Check("sandbox", Grade.OK, found)
    found = "partial: the process that reads PDFs has limits of time and memory, but its system calls are not filtered"
    return Check("sandbox", Grade.WARN, found, _ADVICE)
