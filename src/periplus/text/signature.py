"""Which texts are nearly the same?

A signature has 64 bits (a simhash): every two words in a row vote for or against each bit. Texts that share most of
their words in order have signatures that differ in few bits, whatever stands around them; unrelated texts differ in
about 32.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

NEARLY_SAME = 6  # bits in which the signatures of nearly the same text differ at most
_LONGEST = 65_536  # bytes of a text that vote
_SHINGLE = 2  # words
_WIDE = 0xE3  # the first byte of letters that are words by themselves: Chinese, Japanese, Korean
_LETTERS = bytes(  # small letters and digits as they are, capitals as small letters, all other ASCII as 0
    byte + 32 if 65 <= byte <= 90 else byte if byte >= 128 or chr(byte).isalnum() else 0 for byte in range(256)
)
_BASE = 0x9E37_79B9_7F4A_7C15
_MIX = np.array([0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB, 0xD6E8_FEB8_6659_FD93], np.uint64)
_Hashes = NDArray[np.uint64]


def _powers(base: int) -> _Hashes:
    factors = np.full(_LONGEST, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors)


_UP, _DOWN = _powers(_BASE), _powers(pow(_BASE, -1, 1 << 64))


def signature(text: str) -> int:
    """The signature of a text; 0 for one without words."""
    letters = text[:_LONGEST].encode("utf-8", "replace")[:_LONGEST].translate(_LETTERS)
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
