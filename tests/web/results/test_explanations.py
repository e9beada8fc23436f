"""The displayed parts of a score add up to the displayed score."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.model import Explanation
from periplus.search.scoring.score import FEATURES
from periplus.web.results.explanations import SENTENCES, reasons
from web.engines import HARBOUR, explained

AMOUNTS = st.dictionaries(st.text(min_size=1), st.floats(-1e6, 1e6), min_size=1, max_size=20)


def explanation(score: float, parts: dict[str, float]) -> Explanation:
    return explained(replace(HARBOUR, score=score, explain=parts))


def test_the_largest_comes_first_and_what_lowers_the_score_last() -> None:
    table = reasons(explanation(2.0, {"rank": 0.5, "coverage": 3.0, "crowding": -0.5, "generated": -1.0}))
    assert [(line.sentence, line.amount, line.percent, line.is_negative) for line in table.lines] == [
        ("4 of 4 words on the page", "3.0000", 100, False),
        ("PageRank: better than 97 % of pages", "0.5000", 17, False),
        ("Source listing, generated index or release notes", "-1.0000", 33, True),
        ("Better results of the same site come first", "-0.5000", 17, True),
    ]
    assert table.score == "2.0000"


def test_value_and_weight_are_shown() -> None:
    assert [line.product for line in reasons(explanation(0.6, {"title": 0.6})).lines] == ["1.2 \u00d7 0.5"]


def test_every_feature_has_a_sentence() -> None:
    assert list(SENTENCES) == [*FEATURES, "crowding", "preference"]
    table = reasons(explanation(24.0, dict.fromkeys(SENTENCES, 1.0)))
    sentences = [line.sentence for line in table.lines]
    assert len(set(sentences)) == len(SENTENCES)
    assert all(len(sentence) <= 60 and "{" not in sentence for sentence in sentences)
    assert "3 of 4 words in the title" in sentences


def test_what_adds_nothing_is_not_shown() -> None:
    table = reasons(explanation(1.0, {"text": 1.0, "title": 0.0, "crowding": -0.0, "quality": 0.000_01}))
    assert [line.amount for line in table.lines] == ["1.0000"]


def test_a_feature_without_a_sentence_has_its_name() -> None:
    assert reasons(explanation(1.0, {"new_feature": 1.0})).lines[0].sentence == "new feature"


@given(AMOUNTS)
def test_the_column_adds_up_to_the_score(explain: dict[str, float]) -> None:
    table = reasons(explanation(sum(explain.values()), explain))
    assert sum(Decimal(line.amount) for line in table.lines) == Decimal(table.score)
    assert all(1 <= line.percent <= 100 for line in table.lines)


@given(AMOUNTS)
def test_rounding_moves_no_amount_by_more_than_its_last_digit(explain: dict[str, float]) -> None:
    table = reasons(explanation(sum(explain.values()), explain))
    amounts = sorted(explain.values(), key=lambda amount: (amount < 0, -abs(amount)))
    shown = {line.amount for line in table.lines}
    for amount in amounts:
        assert abs(amount) <= 0.000_16 or any(abs(float(one) - amount) <= 0.000_16 for one in shown)


def test_a_sum_that_is_wrong_is_not_made_right() -> None:
    table = reasons(explanation(10.0, {"text": 3.0}))
    assert (table.lines[0].amount, table.score) == ("3.0000", "10.0000")


def test_no_reasons_no_table() -> None:
    assert reasons(explanation(1.0, {})).lines == ()


@pytest.mark.parametrize("amount", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_none_is_shown_and_breaks_nothing(amount: float) -> None:
    assert [line.amount for line in reasons(explanation(amount, {"pairs": amount})).lines] == [str(amount)]
    assert reasons(explanation(1.0, {"pairs": amount})).score == "1.0"
