from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parse.documents import parsed, real_pages
from periplus.text.simhash import NEARLY_SAME, distance, simhash

_WORDS = ["harbour", "anchor", "current", "sandbank", "pilot", "cargo", "spice", "island", "wind", "monsoon"]


def _text(seed: int, words: int = 400) -> str:
    chooser = random.Random(seed)
    return " ".join(chooser.choice(_WORDS) + str(chooser.randrange(50)) for _ in range(words))


def test_layout_does_not_change_the_simhash() -> None:
    text = _text(1)
    assert simhash(text) == simhash(text.upper().replace(" ", ",\n  "))


def test_a_text_with_a_word_changed_is_nearly_the_same() -> None:
    text = _text(2)
    assert distance(simhash(text), simhash(text.replace(text.split()[200], "elsewhere", 1))) <= NEARLY_SAME


def test_a_text_with_a_line_added_is_nearly_the_same() -> None:
    text = _text(3)
    assert distance(simhash(text), simhash("Printed on 12 May.\n" + text)) <= NEARLY_SAME


def test_unrelated_texts_are_far_apart() -> None:
    signatures = [simhash(_text(seed)) for seed in range(100)]
    nearest = min(distance(one, other) for place, one in enumerate(signatures) for other in signatures[:place])
    assert nearest > 2 * NEARLY_SAME


def test_the_order_of_words_matters() -> None:
    words = _text(4).split()
    assert distance(simhash(" ".join(words)), simhash(" ".join(sorted(words)))) > NEARLY_SAME


def test_texts_without_spaces_are_compared_letter_by_letter() -> None:
    chooser = random.Random(5)
    text = "".join(chr(0x4E00 + chooser.randrange(2_000)) for _ in range(600))
    assert distance(simhash(text), simhash(text[:300] + "新" + text[300:])) <= NEARLY_SAME
    assert distance(simhash(text), simhash(text[::-1])) > NEARLY_SAME


@pytest.mark.parametrize("text", ["", " ", "...", "\n\n"])
def test_a_text_without_words_has_none(text: str) -> None:
    assert simhash(text) == 0


@given(st.text(max_size=200))
def test_every_text_has_a_signature_of_64_bits(text: str) -> None:
    assert 0 <= simhash(text) < 1 << 64
    assert simhash(text) == simhash(text)


def test_only_the_beginning_of_a_long_text_counts() -> None:
    text = _text(6, 20_000)
    assert simhash(text) == simhash(text + _text(7, 20_000))


def test_real_pages_are_told_apart() -> None:
    texts = [parsed(body).text for body in list(real_pages().values())[::4]]
    signatures = [simhash(text) for text in texts if len(text) > 500]
    near = [
        (one, other)
        for place, one in enumerate(signatures)
        for other in signatures[:place]
        if distance(one, other) <= NEARLY_SAME
    ]
    assert not near
