"""Answers searches that are sums, such as `15% of 80`, and not those that look like sums, such as `24/7`."""

from __future__ import annotations

import re

from periplus.web.boxes.arithmetic import Node, NoResult, compute
from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.numbers import shown
from periplus.web.boxes.sum_parser import LONGEST, NotASum, parse, written

_LEAD_IN = re.compile(
    r"(?:what(?:'s|’s| is)|how much is|calculate|compute|was ist|wie ?viel ist)\s+(?:the\s+)?", re.IGNORECASE
)
_NO_OPERATION = frozenset({"number", "pi", "π", "e", "()", "negative", "%", "°"})
_LOOKALIKES = re.compile(
    r"""[+].*  # +49 30 1234
    | [+-]?[0-9][0-9.,]*(?:[-–][0-9][0-9.,]*)+  # 2024-11-16, 555-1234, 747-400
    | [0-9]{4}\s*([-/])\s*[0-9]{1,2}\s*\1\s*[0-9]{1,2}  # 2024 - 11 - 16
    | [0-9]{1,2}\s*([-/])\s*[0-9]{1,2}\s*\2\s*[0-9]{4}
    | [0-9]+/[0-9]+(?:/[0-9]+)+  # 10/100/1000
    | -\S+(?:\s+-\S+)+  # words to leave out
    """,
    re.VERBOSE | re.ASCII,
)
_FRACTION = re.compile(r"([0-9]+)/([0-9]+)", re.ASCII)
_YEARS = re.compile(r"([12][0-9]{3})\s*-\s*([12][0-9]{3})", re.ASCII)


class Calculator:
    """Makes the box with the result of a sum."""

    name = "calculator"

    async def make(self, question: Question) -> Box | None:
        """The box for a search; None when the search is no sum."""
        text = question.query.strip()
        if len(text) > LONGEST:
            return None
        try:
            node = parse(_sum_text(text))
        except NotASum:
            return None
        return _box(node) if _has_operation(node) else None


def _sum_text(text: str) -> str:
    """The sum of a query, without lead-in and equals sign; empty when the query only looks like a sum."""
    asked = _LEAD_IN.sub("", text, count=1) if _LEAD_IN.match(text) else text
    bare = asked.rstrip(" ?").removesuffix("=").removeprefix("=").strip()
    is_explicit = "=" in asked
    return "" if not is_explicit and _looks_like_another_thing(bare) else bare


def _looks_like_another_thing(text: str) -> bool:
    """Whether the text is rather a date, a range, a fraction, a score or a telephone number."""
    if _LOOKALIKES.fullmatch(text):
        return True
    if fraction := _FRACTION.fullmatch(text):  # 24/7, 9/11, 2023/24
        return not _is_division(*map(int, fraction.groups()))
    years = _YEARS.fullmatch(text)
    return bool(years and years[1] < years[2])


def _is_division(above: int, below: int) -> bool:
    """Whether integers with only a slash between them are a division: 100/7 and 80/4 are, 24/7 and 2023/24 are not."""
    is_year = 1900 <= above < 2100
    is_day = above <= 31
    return not is_year and (above > 99 > below or (not is_day and 0 < below <= 12 and above % below == 0))


def _has_operation(node: Node) -> bool:
    return node.operation not in _NO_OPERATION or any(map(_has_operation, node.parts))


def _box(node: Node) -> Box:
    expression = written(node)
    try:
        result, is_exact = shown(compute(node))
    except NoResult as reason:
        return Box("boxes/calculator.html", {"expression": expression, "sentence": str(reason)})
    values = {"expression": expression, "sign": "=" if is_exact else "≈", "result": result, "sentence": ""}
    return Box("boxes/calculator.html", values)
