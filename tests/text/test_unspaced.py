"""Scripts without spaces between words are split into characters, and other text stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from periplus.text.unspaced import blanked, pieces, spaced


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("東京都", ["東", "京", "都"]),
        ("C言語", ["C", "言", "語"]),
        ("ファイルを", ["フ", "ァ", "イ", "ル", "を"]),
        ("한국어는", ["한", "국", "어", "는"]),
        ("ภาษา", ["ภ", "า", "ษ", "า"]),
        ("a東b", ["a", "東", "b"]),
        ("第3章", ["第", "3", "章"]),
    ],
)
def test_every_character_is_a_word(text: str, characters: list[str]) -> None:
    assert spaced(text).split() == characters


@pytest.mark.parametrize("text", ["", "plain words", "naïve café", "Привет, мир", "“quoted” — dash ¶", "αβγ", "עברית"])
def test_other_text_is_returned_as_it_is(text: str) -> None:
    assert spaced(text) is text
    assert blanked(text) is text


def test_accents_are_composed() -> None:
    assert spaced("cafe\u0301") == "caf\u00e9"
    assert spaced("\u0130stanbul") == "istanbul"


@given(st.text(max_size=50))
@example("a東\u0301b")
def test_blanks_have_the_length_of_what_they_replace(text: str) -> None:
    assert len(blanked(text)) == len(text)
    assert all(was == now or now == " " for was, now in zip(text, blanked(text), strict=True))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("削除方法", ["削除", "除方", "方法"]),
        ("ファイルを削除する", ["ファイル", "削除"]),
        ("する", ["する"]),
        ("파일을", ["파일", "일을"]),
        ("ภาษา", ["ภาษ", "าษา"]),
        ("木", ["木"]),
        ("plain", []),
    ],
)
def test_pieces_are_about_as_long_as_words(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected
