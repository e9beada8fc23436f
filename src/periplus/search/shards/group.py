"""The shards of a generation that are open in this process, and what the engine notes about missing shards."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from threading import local

from periplus.errors import ShardsUnavailable
from periplus.search.shards.port import Answer, Shard, ShardGroup


class LocalShards:
    """All shards of a generation, in this process."""

    def __init__(self, shards: Sequence[Shard], close: Callable[[], None]) -> None:
        """*close* closes their files."""
        self._shards, self.close = shards, close

    @property
    def shards(self) -> int:
        """The number of shards."""
        return len(self._shards)

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        """Calls one shard after the other: threads of one process would wait for each other."""
        numbers = range(len(self._shards)) if chosen is None else sorted(chosen)
        return {number: call(self._shards[number]) for number in numbers}


class TrackedShards:
    """Asks the shards of a group, and notes by thread which shards gave no answer."""

    def __init__(self, group: ShardGroup) -> None:
        self._group, self._local = group, local()
        self.shards, self.close = group.shards, group.close

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        """The answers by shard. Raises `ShardsUnavailable` when no shard has answered."""
        asked = range(self.shards) if chosen is None else chosen
        answers = self._group.ask(call, chosen)
        missing = [shard for shard in asked if shard not in answers]
        if missing:
            self.missing.update(missing)
            if len(missing) == len(asked):
                raise ShardsUnavailable("no shard of the index has answered", hint="Try again in a moment.")
        return answers

    @property
    def missing(self) -> set[int]:
        """The shards that gave no answer to this thread since `tracking_missing` began."""
        found: set[int] = self._local.__dict__.setdefault("missing", set())
        return found

    @contextmanager
    def tracking_missing(self) -> Iterator[set[int]]:
        """Notes the shards that are missing in the block."""
        before, self._local.missing = self.missing, set()
        try:
            yield self._local.missing
        finally:
            self._local.missing = before | self._local.missing if before else set()
