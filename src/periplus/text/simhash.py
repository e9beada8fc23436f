"""Near-duplicate detection: 64-bit simhashes of texts, and normalised lines to compare.

`simhash` is computed for the index. Every two consecutive words vote for or against each bit. Texts that share most of
their words in order differ in few bits; unrelated texts differ in about 32.

`quick_simhash` is computed for every page during a crawl, at a third of the cost: only one word in four votes, with the
16 bytes from its start. It ignores numbers, punctuation and case, because calendar pages differ in numbers only.
`lines_of`, `words_of` and `phrase_of` apply the same normalisation.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LONGEST_IN_LINES = 32_768  # characters of a text that `lines_of` splits
_COMPARED = 8_192  # characters of a text that `quick_simhash` uses
_BETWEEN, _LINE = 0, 10  # bytes between two words, and at the end of a line
_PLAIN = bytes(
    byte + 32 if 65 <= byte <= 90 else _BETWEEN if byte == 32 else _LINE if byte in b".!?" else byte
    for byte in range(256)
)
_DROPPED = bytes(byte for byte in range(128) if not chr(byte).isalpha() and byte not in b" \n.!?")
_WINDOW = 16  # bytes that one vote depends on
_PADDING = bytes(_WINDOW)
_WIDE = 0xE3  # lowest first byte of characters that are words by themselves: Chinese, Japanese, Korean
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
    """The quick simhash of a text."""

    signature: int  # 64 bits: near duplicates differ in few of them
    votes: int  # the number of words that voted


def lines_of(text: str) -> frozenset[bytes]:
    """The distinct lines and sentences of a text, normalised."""
    return frozenset(_letters(text[:_LONGEST_IN_LINES]).split(b"\n"))


def words_of(lines: Iterable[bytes]) -> frozenset[bytes]:
    """The words of normalised lines, without the names of months and days."""
    return frozenset(b"\0".join(lines).split(b"\0")) - _DATES


def phrase_of(line: bytes) -> bytes:
    """The words of a normalised line in order, without the names of months and days."""
    return b"\0".join([word for word in line.split(b"\0") if word and word not in _DATES])


def quick_simhash(text: str) -> QuickSimhash:
    """The quick simhash of the first 8,192 characters of a text."""
    padded = np.frombuffer(b"\n" + _letters(text[:_COMPARED]) + _PADDING, np.uint8)
    starts = _starts(padded)
    votes = len(starts)
    if not votes:
        return QuickSimhash(0, 0)
    eight = np.ndarray((len(padded) - 8,), "<u8", padded, 1, (1,))  # the 8 bytes from every position
    mixed = eight[starts] * _FIRST
    mixed += eight[starts + 8] * _SECOND
    mixed ^= mixed >> _HALF
    mixed *= _FIRST
    return QuickSimhash(int.from_bytes(np.packbits(_totals(mixed) > votes // 2).tobytes(), "big"), votes)


def _letters(text: str) -> bytes:
    return text.encode("utf-8", "replace").translate(_PLAIN, _DROPPED)


def _totals(votes: _Numbers) -> _Numbers:
    """The votes for each bit. Adds eight one-byte counters at once, in groups of 255 votes, which fit in a byte."""
    bits = np.unpackbits(votes.view(np.uint8)).view(np.uint64).reshape(-1, 8)
    parts = np.add.reduceat(bits, np.arange(0, len(bits), _COUNTED), axis=0)
    totals: _Numbers = parts.view(np.uint8).sum(axis=0, dtype=np.uint64)
    return totals


def _starts(padded: NDArray[np.uint8]) -> NDArray[np.intp]:
    """The starts of words whose third byte ends in two 1 bits (c, g, k, o, s, w); a wide letter is a 3-byte word."""
    before, letters, third = padded[: -_WINDOW - 1], padded[1:-_WINDOW], padded[3 : 2 - _WINDOW]
    begins = (third & 3) == 3
    begins &= (before <= _LINE) | (letters >= _WIDE)
    begins &= letters > _LINE
    return np.flatnonzero(begins)


NEARLY_SAME = 6  # bits: the simhashes of near duplicates differ in no more
_LONGEST_VOTING = 65_536  # bytes of a text that `simhash` uses
_SHINGLE = 2  # words
_LETTERS = bytes(  # lower-cases ASCII letters, keeps digits, maps other ASCII to 0
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
    """The simhash of a text; 0 for a text without words."""
    letters = text[:_LONGEST_VOTING].encode("utf-8", "replace")[:_LONGEST_VOTING].translate(_LETTERS)
    shingles = _shingles(_words(np.frombuffer(letters, np.uint8)))
    if not len(shingles):
        return 0
    votes = np.unpackbits(shingles.view(np.uint8)).reshape(-1, 64).sum(axis=0, dtype=np.uint16)
    return int.from_bytes(np.packbits(votes > len(shingles) // 2).tobytes(), "big")


def distance(one: int, other: int) -> int:
    """The Hamming distance of two simhashes, in bits."""
    return (one ^ other).bit_count()


def _words(letters: NDArray[np.uint8]) -> _Hashes:
    """A polynomial hash per word, independent of its position in the text."""
    is_letter = letters != 0
    begins = is_letter.copy()
    begins[1:] &= ~is_letter[:-1] | (letters[1:] >= _WIDE)
    starts = np.flatnonzero(begins)
    if not len(starts):
        return np.zeros(0, np.uint64)
    return np.add.reduceat(letters * _UP[: len(letters)], starts) * _DOWN[starts]


def _shingles(words: _Hashes) -> _Hashes:
    """A hash per pair of consecutive words; a text of one word is one shingle."""
    size = min(_SHINGLE, len(words))
    mixed = np.zeros(max(len(words) - size + 1, 0) if size else 0, np.uint64)
    for place in range(size):
        mixed += words[place : place + len(mixed)] * _MIX[place]
    for shift, factor in ((30, _MIX[0]), (27, _MIX[1])):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
    return mixed ^ (mixed >> np.uint64(31))
