"""The displayed parts of a score add up to the displayed score."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.explanations import ScoreReason, reasons

AMOUNTS = st.dictionaries(st.text(min_size=1), st.floats(-1e6, 1e6), min_size=1, max_size=20)


def test_the_largest_comes_first() -> None:
    table = reasons(3.0, {"rank": 0.5, "text": 3.0, "length": -0.5})
    assert table.lines == (
        ScoreReason("text", "3.0000", 100),
        ScoreReason("rank", "0.5000", 17),
        ScoreReason("length", "-0.5000", 0),
    )
    assert table.score == "3.0000"


@given(AMOUNTS)
def test_the_column_adds_up_to_the_score(explain: dict[str, float]) -> None:
    table = reasons(sum(explain.values()), explain)
    assert sum(Decimal(line.amount) for line in table.lines) == Decimal(table.score)
    assert all(0 <= line.percent <= 100 for line in table.lines)


@given(AMOUNTS)
def test_rounding_moves_no_amount_by_more_than_its_last_digit(explain: dict[str, float]) -> None:
    table = reasons(sum(explain.values()), explain)
    amounts = sorted(explain.values(), key=lambda amount: -abs(amount))
    for line, amount in zip(table.lines, amounts, strict=True):
        assert abs(float(line.amount) - amount) <= 0.000_16


def test_a_sum_that_is_wrong_is_not_made_right() -> None:
    table = reasons(10.0, {"text": 3.0})
    assert (table.lines[0].amount, table.score) == ("3.0000", "10.0000")


def test_no_reasons_no_table() -> None:
    assert reasons(1.0, {}).lines == ()


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_shown_and_breaks_nothing(amount: float) -> None:
    assert reasons(amount, {"text": amount}).lines == (ScoreReason("text", str(amount), 0),)
    assert reasons(1.0, {"text": amount}).score == "1.0"
