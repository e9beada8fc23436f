"""Has this URL been met before?

An open-addressing table of 64-bit keys: exact for all practical purposes (two of ten million URLs share a key once in
300,000 crawls), at 8 bytes a slot and 15 a key at most. Never a Bloom filter: its false positives would lose URLs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_SMALLEST = 1 << 12
_FULLEST = 0.75  # of the slots; beyond it probes grow long
_GROWTH = 1.4  # doubling would leave tables that are a third full, at 21 bytes a key
_EMPTY = 0
_MOVED_AT_ONCE = 1 << 18  # slots; while a table grows, both are in memory, and little else should be

Keys = NDArray[np.uint64]


class SeenFilter:
    """A set of 64-bit keys that only grows."""

    def __init__(self) -> None:
        self._count = 0
        self._use(np.zeros(_SMALLEST, np.uint64))

    def __len__(self) -> int:
        return self._count

    @property
    def bytes(self) -> int:
        """Memory held by the table."""
        return self._table.nbytes

    def __contains__(self, key: int) -> bool:
        return self._slots[self._find(key or 1)] != _EMPTY

    def add(self, key: int) -> bool:
        """Remember *key*; True when it is new."""
        key = key or 1  # zero marks an empty slot
        slot = self._find(key)
        if self._slots[slot] != _EMPTY:
            return False
        self._slots[slot] = key
        self._count += 1
        if self._count > self._limit:
            self._grow(self._count)
        return True

    def add_many(self, keys: Keys) -> None:
        """Remember every key of an array; for opening a collection."""
        expected = self._count + len(keys)
        if expected > self._limit:
            self._grow(expected)
        _place(self._table, np.maximum(keys, np.uint64(1)))
        self._count = int(np.count_nonzero(self._table))

    def _find(self, key: int) -> int:
        slots, size = self._slots, self._size
        slot = (key >> 32) * size >> 32
        while (found := slots[slot]) != _EMPTY and found != key:
            slot = slot + 1 if slot + 1 < size else 0
        return slot

    def _use(self, table: Keys) -> None:
        self._table = table
        self._slots = table.data  # indexing it yields plain integers, three times as fast as the array
        self._size = len(table)
        self._limit = int(len(table) * _FULLEST)

    def _grow(self, expected: int) -> None:
        size = self._size
        while expected > size * _FULLEST:
            size = int(size * _GROWTH)
        table = np.zeros(size, np.uint64)
        for start in range(0, self._size, _MOVED_AT_ONCE):
            part = self._table[start : start + _MOVED_AT_ONCE]
            _place(table, part[part != _EMPTY])
        self._use(table)


def _place(table: Keys, keys: Keys) -> None:
    """Write keys into their slots, all at once and as often as slots collide."""
    size = np.uint64(len(table))
    slots = (keys >> np.uint64(32)) * size >> np.uint64(32)
    while len(keys):
        free = table[slots] == _EMPTY
        table[slots[free]] = keys[free]
        left = table[slots] != keys
        keys, slots = keys[left], (slots[left] + np.uint64(1)) % size
