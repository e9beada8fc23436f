"""Which characters are part of a word, and what do they become?

A word is a run of letters, digits and marks. It is lower-cased, and Latin letters lose their accents. Scripts without
spaces between words (Chinese, Japanese, Thai) give one word per character.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from tantivy import Filter, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

LONGEST = 50  # characters; longer runs are not words
_IN_WORDS = "LMN"  # Unicode categories: letters, marks, numbers
_SOFT_HYPHEN = 0x00AD
_ACCENTS = range(0x0300, 0x0370)  # combining accents
_WITHOUT_SPACES = (
    range(0x0E00, 0x0F00),  # Thai, Lao
    range(0x1000, 0x10A0),  # Burmese
    range(0x1780, 0x1800),  # Khmer
    range(0x3005, 0x3008),  # iteration mark, zero
    range(0x3040, 0x3100),  # Hiragana, Katakana
    range(0x31F0, 0x3200),  # small Katakana
    range(0x3400, 0x4DC0),  # Chinese characters
    range(0x4E00, 0xA000),
    range(0xF900, 0xFB00),
    range(0xFF66, 0xFFA0),  # Katakana of half width
    range(0x1B000, 0x1B170),  # historic Kana
    range(0x20000, 0x40000),  # rare Chinese characters
)


class Characters(dict[int, str]):
    """The replacement of every character, for `str.translate`; computed when the character first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = replaced = replacement(code)
        return replaced


def replacement(code: int) -> str:
    """What a character becomes: nothing, a space, letters of a word, or a word between two spaces."""
    if code == _SOFT_HYPHEN or code in _ACCENTS:
        return ""
    folded = _folded(chr(code)) if unicodedata.category(chr(code))[0] in _IN_WORDS else ""
    if folded and any(code in script for script in _WITHOUT_SPACES):
        return f" {folded} "
    return folded or " "


def split(text: str) -> list[str]:
    """The words of a text, in order."""
    return [word for word in text.translate(_characters()).split() if len(word) <= LONGEST]


def _folded(character: str) -> str:
    """A character in lower case without accents."""
    letters = "".join(_folder().analyze(character)).lower()  # it folds some small letters to capitals
    return "".join(
        letter for letter in letters if ord(letter) not in _ACCENTS and unicodedata.category(letter)[0] in _IN_WORDS
    )


@lru_cache(maxsize=1)
def _characters() -> Characters:
    return Characters()


@lru_cache(maxsize=1)
def _folder() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.lowercase()).filter(Filter.ascii_fold()).build()
