"""Merges the candidates of all shards into the blocks that one index would have.

Every list of candidates is merged by text score and cut where one index would cut it. A candidate belongs to the first
block in which one of the lists has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.search.scoring.features import freshness
from periplus.search.scoring.score import FEATURES
from periplus.search.shards.port import Integers, Numbers, ShardCandidates

_FRESHNESS = FEATURES.index("freshness")


class Block(NamedTuple):
    """The candidates of one block, of all shards."""

    numbers: Integers
    shards: Integers
    hosts: NDArray[np.uint64]
    features: Numbers
    boosts: Numbers  # what the reader adds to their scores; empty unless the reader raises or lowers sites


class MergedCandidates:
    """The candidates of the first blocks."""

    def __init__(self, answers: Mapping[int, ShardCandidates], blocks: int) -> None:
        """*answers*: by number of the shard."""
        self._parts, self._asked = list(answers.values()), blocks
        sizes = [len(part.numbers) for part in self._parts]
        self._shards = np.repeat(np.array(list(answers), np.int64), sizes)
        self._starts = np.cumsum([0, *sizes])
        self._numbers = np.concatenate([part.numbers for part in self._parts])
        self._blocks = np.full(len(self._numbers), blocks + 1)  # counted from 1
        self.is_complete = True  # there are no more candidates
        for place in range(len(self._parts[0].lists)):
            self._add_list(place)

    def _add_list(self, list_number: int) -> None:
        lists = [part.lists[list_number] for part in self._parts]
        places = np.concatenate([start + one.places for start, one in zip(self._starts.tolist(), lists, strict=False)])
        if len(lists) > 1:  # the list of one index is in order
            scores = np.concatenate([one.scores for one in lists])
            places = places[np.lexsort((self._numbers[places], -scores))]
        limit = lists[0].limit
        self._blocks[places] = np.minimum(self._blocks[places], np.arange(len(places)) // limit + 1)
        self.is_complete &= all(one.is_complete for one in lists) and len(places) < limit * self._asked

    @property
    def total(self) -> int:
        """The number of matches."""
        return sum(one.total for part in self._parts for one in part.lists)

    @property
    def with_all_words(self) -> int:
        """The number of pages that match the query as a whole."""
        return sum(part.with_all_words for part in self._parts)

    def blocks(self) -> Iterator[Block]:
        """The blocks in order; a block may have no candidates."""
        hosts, features, boosts, dates = (
            np.concatenate([getattr(part, name) for part in self._parts])
            for name in ("hosts", "features", "boosts", "dates")
        )
        has_words = all(part.has_words for part in self._parts)
        for number in range(1, self._asked + 1):
            chosen = np.flatnonzero(self._blocks == number)
            matrix = features[chosen]
            if has_words:
                matrix[:, _FRESHNESS] = freshness(dates[chosen])
            own = boosts[chosen] if len(boosts) else boosts
            yield Block(self._numbers[chosen], self._shards[chosen], hosts[chosen], matrix, own)
