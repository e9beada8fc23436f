"""Sums are told from other texts, and shown as they were understood."""

from __future__ import annotations

import pytest

from periplus.web.boxes.arithmetic import compute
from periplus.web.boxes.sum_parser import NotASum, parse, written


@pytest.mark.parametrize(
    "text", ["", "2+", "+2", "(2", "2)", "()", "2 3", "5!!", "sqrt", "abs 5", "45° + 1", "2 of 3", "x+1", "f(2)", "1=1"]
)
def test_other_texts_are_no_sums(text: str) -> None:
    with pytest.raises(NotASum):
        parse(text)


def test_a_sum_that_is_too_long_or_too_deep_is_not_read() -> None:
    assert compute(parse("1+" * 59 + "1")) == 60
    with pytest.raises(NotASum):
        parse("1+" * 60 + "1")
    assert compute(parse("(" * 30 + "1" + ")" * 30 + "+1")) == 2
    with pytest.raises(NotASum):
        parse("(" * 50 + "1" + ")" * 50 + "+1")


@pytest.mark.parametrize(
    ("text", "understood"),
    [
        ("3,5*2", "3.5 × 2"),
        ("1000 divided by 8", "1,000 ÷ 8"),
        ("2(3+4)pi", "2 × (3 + 4) × π"),
        ("sqrt 16", "sqrt(16)"),
        ("sin(30°)^2", "sin(30°)^2"),
        ("15 % of 80", "15% of 80"),
        ("-5 minus -3!", "-5 - -3!"),
        ("17 % 5", "17 mod 5"),
        ("1e3/7", "1e3 ÷ 7"),
    ],
)
def test_a_sum_is_written_as_it_was_understood(text: str, understood: str) -> None:
    assert written(parse(text)) == understood
