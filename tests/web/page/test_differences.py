"""The difference between two versions shows what was added, removed and changed."""

from __future__ import annotations

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.web.page.differences import MOST_PARAGRAPHS, Difference, difference


def kinds(found: Difference) -> list[str]:
    return [row.kind for row in found.rows]


def test_a_changed_word_is_marked_on_both_sides() -> None:
    found = difference(["The harbour is two miles long."], ["The harbour is three miles long."])
    (row,) = found.rows
    assert [piece.text for piece in row.before if piece.marked] == ["two"]
    assert [piece.text for piece in row.after if piece.marked] == ["three"]
    assert "".join(piece.text for piece in row.after) == "The harbour is three miles long."
    assert (found.added, found.removed, found.changed, found.is_empty) == (0, 0, 1, False)


def test_added_and_removed_paragraphs_are_shown_between_their_neighbours() -> None:
    before = [f"paragraph {n}" for n in range(20)]
    after = [*before[:10], "something new", *before[10:19]]
    found = difference(before, after)
    assert kinds(found) == ["skipped", "same", "added", "same", "skipped", "same", "removed"]
    assert [row.skipped for row in found.rows if row.skipped] == [9, 7]


def test_a_paragraph_with_little_in_common_was_replaced() -> None:
    assert kinds(difference(["Ships and ropes."], ["Nothing like it, 42!"])) == ["removed", "added"]


def test_a_changed_paragraph_is_found_after_an_added_one() -> None:
    before, after = ["The mole is long and old.", "Gone."], ["A heading", "The mole is long and new."]
    assert kinds(difference(before, after)) == ["added", "changed", "removed"]


def test_equal_texts_have_no_difference() -> None:
    assert difference(["one", "two"], ["one", "two"]).is_empty
    assert difference([], []).is_empty


def test_long_texts_are_cut_and_say_so() -> None:
    long = [f"paragraph {n}" for n in range(MOST_PARAGRAPHS + 1)]
    assert difference(long, long).is_cut
    assert [row.skipped for row in difference(long, long).rows] == [MOST_PARAGRAPHS]
    assert not difference(long[1:], long[1:]).is_cut


def test_a_long_paragraph_is_compared_as_a_whole() -> None:
    long = " ".join(f"word{n}" for n in range(1_000))
    assert kinds(difference([f"{long} two"], [f"{long} three"])) == ["removed", "added"]
    assert kinds(difference([f"{long[:2_000]} two"], [f"{long[:2_000]} three"])) == ["changed"]


def test_the_words_of_many_changed_paragraphs_are_compared_up_to_a_limit() -> None:
    lines = [" ".join(f"word{n}of{line}" for n in range(150)) for line in range(200)]
    found = difference([f"{line} two" for line in lines], [f"{line} three" for line in lines])
    assert 50 < found.changed < 150
    assert found.added == found.removed == 200 - found.changed


@settings(max_examples=40)
@given(st.lists(st.text(max_size=20), max_size=8), st.lists(st.text(max_size=20), max_size=8))
def test_any_texts_can_be_compared(before: list[str], after: list[str]) -> None:
    found = difference(before, after)
    assert found.is_empty == (before == after)


@pytest.mark.slow
def test_the_work_is_bounded_for_the_worst_texts() -> None:
    dice = random.Random(7)
    lines = [f"line {n} " + "x " * 200 for n in range(99)]
    before, after = ([dice.choice(lines) + str(dice.random()) for _ in range(MOST_PARAGRAPHS)] for _ in range(2))
    shuffled = [dice.choice(lines) for _ in range(MOST_PARAGRAPHS)]
    begun = time.process_time()
    difference(before, after)
    difference(shuffled, shuffled[::-1])
    assert time.process_time() - begun < 20, "about 2 s"
