"""The quick simhash tells near duplicates from other texts."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from parse.documents import answer, parser, real_pages
from periplus.crawl.visits.novelty import NEAR
from periplus.text.simhash import lines_of, quick_simhash, words_of
from testweb import prose

WORDS = ["harbour", "anchor", "current", "sandbank", "pilot", "cargo", "spice", "island", "wind", "monsoon", "kelp"]


def written(seed: int, words: int = 600) -> str:
    chooser = random.Random(seed)
    return " ".join(chooser.choice(WORDS) + chooser.choice("abcdefghij") for _ in range(words))


def apart(one: str, other: str) -> int:
    return (quick_simhash(one).signature ^ quick_simhash(other).signature).bit_count()


def nearest(texts: list[str]) -> int:
    """The smallest distance between two of the texts."""
    signatures = [quick_simhash(text).signature for text in texts]
    return min((one ^ other).bit_count() for place, one in enumerate(signatures) for other in signatures[:place])


def test_numbers_punctuation_and_case_are_ignored() -> None:
    one, other = "Events on 3 May 2024:\nnone", "EVENTS on 17 may 2031\n'None'"
    assert (quick_simhash(one), lines_of(one)) == (quick_simhash(other), lines_of(other))


def test_sentences_are_separate_lines() -> None:
    assert lines_of("one line\n2 lines\nOne line. And more") == {b"one\0line", b"\0lines", b"\0and\0more"}


def test_names_of_months_and_days_can_be_left_out() -> None:
    lines = lines_of("No events on Monday, 3 March 2025\nNo rain")
    assert words_of(lines) - {b""} == {b"no", b"events", b"on", b"rain"}


def test_a_text_with_a_word_changed_is_near() -> None:
    text = written(1)
    assert apart(text, text.replace(text.split()[300], "elsewhere", 1)) <= NEAR


def test_unrelated_texts_are_far_apart() -> None:
    assert nearest([written(seed) for seed in range(60)]) > NEAR


def test_wide_letters_vote_one_by_one() -> None:
    chooser = random.Random(5)
    text = "".join(chr(0x4E00 + chooser.randrange(2_000)) for _ in range(900))
    assert quick_simhash(text).votes > 100
    assert apart(text, text[:450] + "新" + text[450:]) <= NEAR
    assert apart(text, text[::-1]) > NEAR


@given(st.text(max_size=300))
def test_any_text_has_a_quick_simhash(text: str) -> None:
    found = quick_simhash(text)
    assert 0 <= found.signature < 1 << 64
    assert found.votes <= 4 * len(text)
    assert found == quick_simhash(text)


def test_a_text_without_words_has_no_votes() -> None:
    assert quick_simhash("... 12 34\n\n!").votes == 0


def test_only_the_beginning_of_a_long_text_counts() -> None:
    text = written(6, 20_000)
    assert quick_simhash(text) == quick_simhash(text + written(7, 20_000))


def test_generated_pages_are_told_apart() -> None:
    assert nearest([prose.text(f"page {number}") for number in range(300)]) > NEAR


def test_real_pages_are_told_apart() -> None:
    reader = parser()
    pages = [reader.skim(answer(body)) for body in real_pages().values()]
    known = [(page.title, quick_simhash(page.text)) for page in pages]
    near = [
        (title, other_title)
        for place, (title, one) in enumerate(known)
        for other_title, other in known[:place]
        if (one.signature ^ other.signature).bit_count() <= NEAR
    ]
    assert all(title == other for title, other in near), "only two parts of one article are alike"
    assert len(near) <= 1
