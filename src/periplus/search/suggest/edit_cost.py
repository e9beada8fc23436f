"""How unlikely is it that a person types one word and means another?

A weighted edit distance: usual slips (a doubled letter, two letters swapped, a neighbouring key, a letter that sounds
alike) cost less than an edit, a wrong first letter costs more. All words are compared at once, letter by letter.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from periplus.index.suggest.vocabulary import MOST_EDITS, Near, codes

_EDIT = np.float32(1.0)  # a letter too many, or another letter
_MISSING = np.float32(0.8)
_DOUBLED = np.float32(0.6)  # a letter typed twice instead of once, or once instead of twice
_SWAPPED = np.float32(0.65)
_SIMILAR = np.float32(0.85)  # a letter instead of one that sounds alike, or on a neighbouring key
_FIRST = np.float32(0.2)  # more for the first letter, which is rarely wrong
_FAR = np.float32(99.0)  # more edits than are looked at
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SHIFTS = (0.0, 0.5, 1.0)  # of the rows, in keys
# fmt: off
_SOUNDS = ["ae", "ei", "iy", "ou", "ao", "eo", "sz", "cs", "ck", "kq", "mn", "dt", "bp", "gj",
           "vw", "ui", "ai", "oi", "eu", "au", "gk", "fv"]
# fmt: on
_CODES = 32  # letters are told apart by their last five bits, like those of signatures
F32 = NDArray[np.float32]


def edit_costs(typed: str, near: Near) -> F32:
    """The cost of typing *typed* for each of the words in *near*; 0 for the same word. *typed* is `folded`."""
    letters = codes(typed)
    before: dict[int, F32] = {}  # two letters ago, by the number of letters of the other word
    last: dict[int, F32] = {}  # one letter ago
    width = int(near.lengths.max(initial=0))
    for place in range(len(letters) + 1):
        row: dict[int, F32] = {}
        for other in range(max(place - MOST_EDITS, 0), min(place + MOST_EDITS, width) + 1):
            row[other] = _cheapest(letters, near.letters, place, other, row, last, before)
        before, last = last, row
    costs = np.full(len(near.lengths), _FAR)
    for length, found in last.items():
        costs = np.where(near.lengths == length, found, costs)
    return costs


def _cheapest(
    typed: NDArray[np.uint16],
    meant: NDArray[np.uint16],
    place: int,
    other: int,
    row: dict[int, F32],
    last: dict[int, F32],
    before: dict[int, F32],
) -> F32:
    """The cost of the first *place* letters typed for the first *other* letters meant."""
    if place == other == 0:
        return np.zeros(len(meant), np.float32)
    best = np.full(len(meant), _FAR)
    if place and other and other - 1 in last:
        best = last[other - 1] + _substitution(int(typed[place - 1]), meant[:, other - 1], first=place == other == 1)
    if place and other in last:  # a letter too many
        best = np.minimum(best, last[other] + _surplus(typed, place))
    if other and other - 1 in row:  # a letter is missing
        best = np.minimum(best, row[other - 1] + _missing(meant, other))
    if place > 1 and other > 1 and other - 2 in before:
        swapped = (meant[:, other - 1] == typed[place - 2]) & (meant[:, other - 2] == typed[place - 1])
        best = np.where(swapped, np.minimum(best, before[other - 2] + _SWAPPED), best)
    return best.astype(np.float32, copy=False)


def _surplus(typed: NDArray[np.uint16], place: int) -> np.float32:
    """The cost of typing the letter before *place*, which was not meant."""
    if place == 1:
        return _EDIT + _FIRST
    return _DOUBLED if typed[place - 1] == typed[place - 2] else _EDIT


def _missing(meant: NDArray[np.uint16], other: int) -> F32 | np.float32:
    """The cost of leaving out the letter before *other*, which was meant."""
    if other == 1:
        return _MISSING + _FIRST
    return np.where(meant[:, other - 1] == meant[:, other - 2], _DOUBLED, _MISSING).astype(np.float32)


def _substitution(typed: int, meant: NDArray[np.uint16], *, first: bool) -> F32:
    costs = _substitutions()[typed % _CODES][meant % _CODES] if typed < 128 else _EDIT
    return np.where(meant == typed, np.float32(0), costs + (_FIRST if first else np.float32(0)))


@lru_cache(maxsize=1)
def _substitutions() -> F32:
    """The cost of typing one letter for another, by their last five bits."""
    places = {key: (row, at + _SHIFTS[row]) for row, keys in enumerate(_ROWS) for at, key in enumerate(keys)}
    pairs = {
        (one, two)
        for one, (row, at) in places.items()
        for two, (other_row, other_at) in places.items()
        if abs(row - other_row) <= 1 and abs(at - other_at) <= 1
    }
    pairs |= {(sound[side], sound[1 - side]) for sound in _SOUNDS for side in (0, 1)}
    costs = np.full((_CODES, _CODES), _EDIT)
    for one, two in pairs:
        costs[ord(one) % _CODES, ord(two) % _CODES] = _SIMILAR
    return costs
