"""Which shards gave no answer while something was computed?

Every thread notes the shards that it misses. A block of `tracking_missing` has those of all questions in it, also of
blocks inside it. A site tracks a whole request that way, and a cache each value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from threading import Lock, local
from typing import Generic, TypeVar

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class _Thread(local):
    """The missing shards of the innermost block of a thread; None outside of all blocks."""

    missing: set[int] | None = None


_thread = _Thread()


def note_missing(shards: Iterable[int]) -> None:
    """Tells the blocks around the caller that these shards gave no answer."""
    if _thread.missing is not None:
        _thread.missing.update(shards)


@contextmanager
def tracking_missing() -> Iterator[set[int]]:
    """The shards that give this thread no answer in the block; complete when the block ends."""
    outer = _thread.missing
    missing = _thread.missing = set[int]()
    try:
        yield missing
    finally:
        _thread.missing = outer
        note_missing(missing)


class CompleteCache(Generic[_Key, _Value]):
    """The values that were used last. A value is kept only if every shard answered while it was computed.

    Safe to share between threads.
    """

    def __init__(self, size: int) -> None:
        """*size*: number of values."""
        self._size, self._lock = size, Lock()
        self._values: OrderedDict[_Key, _Value] = OrderedDict()

    def get(self, key: _Key, compute: Callable[[], _Value]) -> _Value:
        """The value of a key; otherwise that of *compute*."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        with tracking_missing() as missing:
            value = compute()
        if not missing:
            with self._lock:
                self._values[key] = value
                if len(self._values) > self._size:
                    self._values.popitem(last=False)
        return value
