"""The shards of a generation that are open in this process, and shards whose missing answers are noted."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from periplus.errors import ShardsUnavailable
from periplus.search.missing_shards import note_missing
from periplus.search.shards.port import Answer, Shard, ShardGroup

PAGE_UNAVAILABLE = "the part of the index with this page has not answered"


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
    """Asks the shards of a group, and notes which of them gave no answer."""

    def __init__(self, group: ShardGroup) -> None:
        self._group = group
        self.shards, self.close = group.shards, group.close

    def ask(self, call: Callable[[Shard], Answer], chosen: Collection[int] | None = None) -> dict[int, Answer]:
        """The answers by shard. Raises `ShardsUnavailable` when all shards were asked and none has answered."""
        asked = range(self.shards) if chosen is None else set(chosen)
        answers = self._group.ask(call, chosen)
        missing = [shard for shard in asked if shard not in answers]
        if missing:
            note_missing(missing)
            if len(missing) == self.shards:
                raise ShardsUnavailable("no shard of the index has answered")
        return answers

    def ask_one(self, call: Callable[[Shard], Answer], shard: int) -> Answer:
        """The answer of one shard. Raises `ShardsUnavailable` when it gives none."""
        answers = self.ask(call, [shard])
        if shard not in answers:
            raise ShardsUnavailable(PAGE_UNAVAILABLE)
        return answers[shard]
