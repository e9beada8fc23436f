"""What is known after one look at the machine?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"  # works, with a limit worth knowing
    BAD = "bad"  # something will fail


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    grade: Grade
    found: str
    advice: str = ""  # what to do; empty when nothing is to be done


def graded(name: str, amount: float, found: str, *, bad: float, low: float, advice: str) -> Check:
    """A check of something of which there should be enough: at least *bad* to work at all, *low* to work well."""
    if amount >= low:
        return Check(name, Grade.OK, found)
    return Check(name, Grade.BAD if amount < bad else Grade.WARN, found, advice)
