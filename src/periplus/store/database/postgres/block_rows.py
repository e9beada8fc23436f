"""Converts the block list of `periplus forget` to rows and back: on a fleet all nodes share it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from periplus.store.block_list import NOTHING_BLOCKED, Blocked, BlockList

_KEY = "key"  # the kind of the row with the key of the hashes


def block_list(rows: Iterable[tuple[str, str]]) -> BlockList:
    """The block list in the rows; without any, nothing is blocked."""
    found = [Blocked(*row) for row in rows]
    keys = [entry.hash for entry in found if entry.kind == _KEY]
    if not keys:
        return NOTHING_BLOCKED
    return BlockList(bytes.fromhex(keys[0]), frozenset(entry for entry in found if entry.kind != _KEY))


def rows_of(blocked: BlockList) -> Iterator[tuple[str, str]]:
    """The rows of a block list."""
    yield _KEY, blocked.key.hex()
    yield from sorted(blocked.entries)
