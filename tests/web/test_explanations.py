"""The displayed parts of a score add up to the displayed score."""

from __future__ import annotations

from decimal import Decimal
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.search.score import FEATURES
from periplus.web.explanations import LABELS, ScoreReason, reasons

AMOUNTS = st.dictionaries(st.text(min_size=1), st.floats(-1e6, 1e6), min_size=1, max_size=20)


def test_the_largest_comes_first() -> None:
    table = reasons(3.0, {"rank": 0.5, "coverage": 3.0, "crowding": -0.5})
    assert table.lines == (
        ScoreReason("Your words on the page", "3.0000", 100),
        ScoreReason("Links to the page (PageRank)", "0.5000", 17),
        ScoreReason("Better results of the same host", "-0.5000", 0),
    )
    assert table.score == "3.0000"


def test_every_feature_has_a_label() -> None:
    assert list(LABELS) == [*FEATURES, "crowding"]
    assert len(set(LABELS.values())) == len(LABELS)
    assert all(len(label) <= 40 and label[0].isupper() for label in LABELS.values())


def test_what_adds_nothing_is_not_shown() -> None:
    table = reasons(1.0, {"text": 1.0, "title": 0.0, "crowding": -0.0, "quality": 0.000_01})
    assert [line.amount for line in table.lines] == ["1.0000"]


def test_the_smallest_parts_share_a_line() -> None:
    table = reasons(78.0, {f"part {number}": float(number) for number in range(1, 13)})
    assert [line.name for line in table.lines[-2:]] == ["part 3", "2 smaller parts"]
    assert (len(table.lines), table.lines[-1].amount) == (11, "3.0000")


def test_a_feature_without_a_label_has_its_name() -> None:
    assert reasons(1.0, {"new_feature": 1.0}).lines[0].name == "new feature"


@given(AMOUNTS)
def test_the_column_adds_up_to_the_score(explain: dict[str, float]) -> None:
    table = reasons(sum(explain.values()), explain)
    assert sum(Decimal(line.amount) for line in table.lines) == Decimal(table.score)
    assert all(0 <= line.percent <= 100 for line in table.lines)


@given(AMOUNTS)
def test_rounding_moves_no_amount_by_more_than_its_last_digit(explain: dict[str, float]) -> None:
    table = reasons(sum(explain.values()), explain)
    amounts = sorted(explain.values(), key=lambda amount: -abs(amount))
    shown = [float(line.amount) for line in table.lines]
    assert len(shown) <= min(len(amounts), 11)
    for amount, displayed in zip_longest(amounts[:10], shown[:10], fillvalue=0.0):
        assert abs(displayed - amount) <= 0.000_16


def test_a_sum_that_is_wrong_is_not_made_right() -> None:
    table = reasons(10.0, {"text": 3.0})
    assert (table.lines[0].amount, table.score) == ("3.0000", "10.0000")


def test_no_reasons_no_table() -> None:
    assert reasons(1.0, {}).lines == ()


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_shown_and_breaks_nothing(amount: float) -> None:
    assert reasons(amount, {"text": amount}).lines == (ScoreReason(LABELS["text"], str(amount), 0),)
    assert reasons(1.0, {"text": amount}).score == "1.0"
