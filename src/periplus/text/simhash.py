"""What is left of a text when numbers, marks and capitals are taken away?

The crawl looks at it in passing, to see whether a page says what others of its host have said. Numbers go, because the
pages of a calendar differ in nothing else. The signature is a simhash like that of `signature.py`, but a third of its
price: of one word in four, the sixteen letters from its start on vote.

Which texts are nearly the same?

A signature has 64 bits (a simhash): every two words in a row vote for or against each bit. Texts that share most of
their words in order have signatures that differ in few bits, whatever stands around them; unrelated texts differ in
about 32.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LONGEST_IN_LINES = 32_768  # characters of a text whose lines are told apart
_COMPARED = 8_192  # of those, how many the signature stands on
_BETWEEN, _LINE = 0, 10  # between two words, and at the end of a line
_PLAIN = bytes(
    byte + 32 if 65 <= byte <= 90 else _BETWEEN if byte == 32 else _LINE if byte in b".!?" else byte
    for byte in range(256)
)
_DROPPED = bytes(byte for byte in range(128) if not chr(byte).isalpha() and byte not in b" \n.!?")
_WINDOW = 16  # letters that one vote depends on
_PADDING = bytes(_WINDOW)
_WIDE = 0xE3  # the first byte of letters that are words by themselves: Chinese, Japanese, Korean
_FIRST, _SECOND = np.uint64(0xBF58_476D_1CE4_E5B9), np.uint64(0x94D0_49BB_1331_11EB)
_HALF = np.uint64(32)
_COUNTED = 255
_Numbers = NDArray[np.uint64]


# fmt: off
_DATES = frozenset("""
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun am pm st nd rd th
    monday tuesday wednesday thursday friday saturday sunday
    januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    lundi mardi mercredi jeudi vendredi samedi dimanche
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    lunes martes miércoles jueves viernes sábado domingo
    gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
    lunedì martedì mercoledì giovedì venerdì sabato domenica
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
    januari februari maart mei augustus maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
""".encode().split())
# fmt: on


class QuickSimhash(NamedTuple):
    """A text as far as it can be compared with others."""

    signature: int  # 64 bits: texts that are nearly the same have nearly the same
    votes: int  # how many words it stands on


def lines_of(text: str) -> frozenset[bytes]:
    """The letters of a text, sentence by sentence."""
    return frozenset(_letters(text[:_LONGEST_IN_LINES]).split(b"\n"))


def words_of(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The words of some lines of a gist, without the names of months and days."""
    return frozenset(b"\0".join(lines).split(b"\0")) - _DATES


def phrase_of(line: bytes) -> bytes:
    """The words of a line of a gist in order, without the names of months and days."""
    return b"\0".join([word for word in line.split(b"\0") if word and word not in _DATES])


def quick_simhash(text: str) -> QuickSimhash:
    """The signature of the beginning of a text."""
    padded = np.frombuffer(b"\n" + _letters(text[:_COMPARED]) + _PADDING, np.uint8)
    starts = _starts(padded)
    votes = len(starts)
    if not votes:
        return QuickSimhash(0, 0)
    eight = np.ndarray((len(padded) - 8,), "<u8", padded, 1, (1,))  # the eight letters from any place on
    mixed = eight[starts] * _FIRST
    mixed += eight[starts + 8] * _SECOND
    mixed ^= mixed >> _HALF
    mixed *= _FIRST
    return QuickSimhash(int.from_bytes(np.packbits(_totals(mixed) > votes // 2).tobytes(), "big"), votes)


def _letters(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_PLAIN, _DROPPED)


def _totals(votes: _Numbers) -> _Numbers:
    """How many vote for each bit. Eight bits, a byte each, are added up at once, and no more than a byte can count."""
    bits = np.unpackbits(votes.view(np.uint8)).view(np.uint64).reshape(-1, 8)
    parts = np.add.reduceat(bits, np.arange(0, len(bits), _COUNTED), axis=0)
    totals: _Numbers = parts.view(np.uint8).sum(axis=0, dtype=np.uint64)
    return totals


def _starts(padded: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Where words begin whose third byte is one of four (c, g, k, o, s, w); a wide letter is a word of three bytes."""
    before, letters, third = padded[: -_WINDOW - 1], padded[1:-_WINDOW], padded[3 : 2 - _WINDOW]
    begins = (third & 3) == 3
    begins &= (before <= _LINE) | (letters >= _WIDE)
    begins &= letters > _LINE
    return np.flatnonzero(begins)


NEARLY_SAME = 6  # bits in which the signatures of nearly the same text differ at most
_LONGEST_VOTING = 65_536  # bytes of a text that vote
_SHINGLE = 2  # words
_LETTERS = bytes(  # small letters and digits as they are, capitals as small letters, all other ASCII as 0
    byte + 32 if 65 <= byte <= 90 else byte if byte >= 128 or chr(byte).isalnum() else 0 for byte in range(256)
)
_BASE = 0x9E37_79B9_7F4A_7C15
_MIX = np.array([0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93], np.uint64)
_Hashes = NDArray[np.uint64]


def _powers(base: int) -> _Hashes:
    factors = np.full(_LONGEST_VOTING, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


_UP, _DOWN = _powers(_BASE), _powers(pow(_BASE, -1, 1 << 64))


def simhash(text: str) -> int:
    """The signature of a text; 0 for one without words."""
    letters = text[:_LONGEST_VOTING].encode("utf-8", "replace")[:_LONGEST_VOTING].translate(_LETTERS)
    shingles = _shingles(_words(np.frombuffer(letters, np.uint8)))
    if not len(shingles):
        return 0
    votes = np.unpackbits(shingles.view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.uint16)
    return int.from_bytes(np.packbits(votes > len(shingles) // 2).tobytes(), "big")


def distance(one: int, other: int) -> int:
    """In how many bits two signatures differ."""
    return (one ^ other).bit_count()


def _words(letters: NDArray[np.uint8]) -> _Hashes:
    """A hash for each word: its letters as the digits of a number, wherever in the text it stands."""
    is_letter = letters != 0
    begins = is_letter.copy()
    begins[1:] &= ~is_letter[:-1] | (letters[1:] >= _WIDE)
    starts = np.flatnonzero(begins)
    if not len(starts):
        return np.zeros(0, np.uint64)
    return np.add.reduceat(letters * _UP[: len(letters)], starts) * _DOWN[starts]


def _shingles(words: _Hashes) -> _Hashes:
    """A hash for every few words in a row; a shorter text is one shingle."""
    size = min(_SHINGLE, len(words))
    mixed = np.zeros(max(len(words) - size + 1, 0) if size else 0, np.uint64)
    for place in range(size):
        mixed += words[place : place + len(mixed)] * _MIX[place]
    for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed ^ (mixed >> np.uint64(31))
