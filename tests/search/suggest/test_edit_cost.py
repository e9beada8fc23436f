"""A usual slip costs less than another edit."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from periplus.index.suggest.vocabulary import LONGEST, Near, codes
from periplus.search.suggest.edit_cost import edit_costs


def cost(typed: str, *meant: str) -> list[float]:
    letters = np.zeros((len(meant), LONGEST), np.uint16)
    for row, word in zip(letters, meant, strict=True):
        row[: len(word)] = codes(word)
    lengths = np.array([len(word) for word in meant], np.intp)
    found = edit_costs(typed, Near(np.arange(len(meant), dtype=np.uint32), letters, lengths))
    return [round(float(one), 2) for one in found]


@pytest.mark.parametrize(
    ("typed", "cheap", "dear"),
    [
        ("ballance", "balance", "ballancer"),  # a doubled letter, a missing letter
        ("tabels", "tables", "tabers"),  # swapped letters, another letter
        ("recieve", "receive", "recline"),
        ("genarator", "generator", "genbrator"),  # a similar sound, another letter
        ("hoise", "house", "horse"),  # a neighbouring key
        ("gage", "gate", "page"),  # the first letter is rarely wrong
    ],
)
def test_the_usual_slip_is_cheaper(typed: str, cheap: str, dear: str) -> None:
    first, second = cost(typed, cheap, dear)
    assert 0 < first < second


def test_the_same_word_costs_nothing_and_edits_add_up() -> None:
    assert cost("harbour", "harbour", "harbxur", "hxrbxur") == [0.0, 1.0, 2.0]


def test_a_word_of_another_length_or_with_more_edits_is_far() -> None:
    near, far = cost("abc", "abcde", "abcdef")
    assert near < 2 < 90 < far
    assert cost("abc") == []


def test_other_scripts_are_compared_too() -> None:
    first, second = cost("разрешние", "разрешение", "разрешения")
    assert 0 < first <= 1 < second <= 2


def test_no_cost_is_more_than_that_of_plain_edits_and_zero_means_equal() -> None:
    words = ["".join(letters) for size in (2, 3) for letters in product("abz", repeat=size)]
    for typed in words:
        for meant, found in zip(words, cost(typed, *words), strict=True):
            assert (found == 0) == (typed == meant)
            assert found <= 1.35 * max(len(typed), len(meant))
