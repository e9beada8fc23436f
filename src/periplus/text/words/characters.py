"""Which characters are part of a word, and what do they become?

A word is a run of letters, digits and marks, in lower case. It keeps its accents, which stemmers need. Scripts without
spaces between words (Chinese, Japanese, Korean, Thai) give one word per character, as in the index.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from periplus.text.unspaced import UNSPACED

LONGEST = 50  # characters; longer runs are not words
_IN_WORDS = "LMN"  # Unicode categories: letters, marks, numbers
_SOFT_HYPHEN = 0x00AD
_ACCENTS = range(0x0300, 0x0370)  # combining accents
_UNSPACED = re.compile(f"[{UNSPACED}]")


class Characters(dict[int, str]):
    """The replacement of every character, for `str.translate`; computed when the character first occurs."""

    def __missing__(self, code: int) -> str:
        self[code] = replaced = replacement(code)
        return replaced


def replacement(code: int) -> str:
    """What a character becomes: nothing, a space, letters of a word, or a word between two spaces."""
    if code == _SOFT_HYPHEN or code in _ACCENTS:
        return ""
    letters = _lower(chr(code)) if _is_in_words(chr(code)) else ""
    if letters and _UNSPACED.match(chr(code)):
        return f" {letters} "
    return letters or " "


def split(text: str) -> list[str]:
    """The words of a text, in order."""
    return [word for word in text.translate(_characters()).split() if len(word) <= LONGEST]


def _lower(character: str) -> str:
    return "".join(letter for letter in character.lower() if ord(letter) not in _ACCENTS and _is_in_words(letter))


def _is_in_words(character: str) -> bool:
    return unicodedata.category(character)[0] in _IN_WORDS


@lru_cache(maxsize=1)
def _characters() -> Characters:
    return Characters()
