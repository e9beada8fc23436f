"""Splits text of scripts without spaces between words: Chinese, Japanese, Korean, Thai, Lao, Burmese and Khmer.

tantivy splits at spaces and punctuation, so a sentence in these scripts would be one word. `spaced` puts spaces between
their characters. A word is then a phrase of characters, and is found inside any sentence.
"""

from __future__ import annotations

import re
import unicodedata

_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HIRAGANA = "\u3041-\u309f"
_SOUTH_EAST = "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
UNSPACED = f"{_HAN}{_HANGUL}{_KATAKANA}{_HIRAGANA}\u3100-\u312f{_SOUTH_EAST}"  # inside a character class of `re`
_RUN = re.compile(f"[{UNSPACED}]+")
_SCRIPT = re.compile(f"([{_KATAKANA}]+)|([{_HIRAGANA}]+)|([{_SOUTH_EAST}]+)|[{_HAN}{_HANGUL}\u3100-\u312f]+")
_DOTTED_I = "\u0130"  # its lower case is two characters, at which tantivy would split a word
_IDEOGRAPHS, _LETTERS = 2, 3  # characters in a piece
# All bytes except the first bytes, in UTF-8, of these scripts and of combining accents (0xCC and 0xCD).
_PLAIN = bytes({*range(256)} - {0xCC, 0xCD, 0xE0, 0xE1, *range(0xE3, 0xF5)})


def spaced(text: str) -> str:
    """The text with spaces between characters of unspaced scripts, and with composed accents.

    A text without such characters is returned as it is: ASCII at once, other text at about 500 MB/s.
    """
    if text.isascii():
        return text
    if _DOTTED_I in text:
        text = text.replace(_DOTTED_I, "i")
    if not _is_notable(text):
        return text
    return _RUN.sub(lambda run: f" {' '.join(run[0])} ", unicodedata.normalize("NFC", text))


def blanked(text: str) -> str:
    """The text with spaces instead of the characters of unspaced scripts; it has the same length."""
    if text.isascii() or not _is_notable(text):
        return text
    return _RUN.sub(lambda run: " " * len(run[0]), text)


def _is_notable(text: str) -> bool:
    """Whether a text may have unspaced scripts or combining accents; quick, because it looks at bytes only."""
    return bool(text.encode("utf-8", "replace").translate(None, _PLAIN))


def pieces(text: str) -> list[str]:
    """Parts of a text in unspaced scripts that are about as long as a word, for queries that any part satisfies.

    Ideographs and Hangul: every two neighbours. Katakana: whole runs, which are words. Thai and its neighbours: every
    three characters. Hiragana is mostly grammar, so it is left out when there is anything else.
    """
    found: list[str] = []
    grammar: list[str] = []
    for run in _SCRIPT.finditer(text):
        katakana, hiragana, letters = run.groups()
        if katakana:
            found.append(katakana)
        elif hiragana:
            grammar.append(hiragana)
        else:
            found += _neighbours(run[0], _LETTERS if letters else _IDEOGRAPHS)
    return found or grammar


def _neighbours(run: str, size: int) -> list[str]:
    return [run[start : start + size] for start in range(max(len(run) - size, 0) + 1)]
