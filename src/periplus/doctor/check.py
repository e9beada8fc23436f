"""The result of one check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"  # works, with a limitation
    BAD = "bad"  # something will fail


@dataclass(frozen=True, slots=True)
class Check:
    """One check with its result."""

    name: str
    grade: Grade
    found: str
    advice: str = ""  # how to fix it; empty when the check is OK


def graded(name: str, amount: float, found: str, *, bad: float, low: float, advice: str) -> Check:
    """Grades an amount: below *bad* something will fail, below *low* it is a warning."""
    if amount >= low:
        return Check(name, Grade.OK, found)
    return Check(name, Grade.BAD if amount < bad else Grade.WARN, found, advice)
