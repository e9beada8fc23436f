"""The paths, records and statuses of the interface between a broker and its shard nodes."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import NamedTuple

from periplus.config import Ranking

VERSION = 1  # changes with every record that is exchanged
PREFIX = f"/shards/v{VERSION}"
FACTS = f"{PREFIX}/facts"
MOST_REQUEST_BYTES = 4 << 20  # of a request; the longest has the words and frequencies of a query of 2,048 characters
MOST_BLOCKS = 1 << 14  # of candidates: enough for 10,000 results with the smallest `ranking.candidates`
MOST_RESULTS = 10_000  # the last result that a reader can see; also documents and hosts that a request names
MOST_TEXTS = 100  # pages whose whole texts one request reads
NO_SUCH_GENERATION = 410  # the node has not, or no longer, this shard of this generation
BUSY = 503


class ShardRequest(NamedTuple):
    """A call of a method of one shard."""

    generation: str  # id
    shard: int
    method: str
    body: bytes  # the arguments

    @property
    def path(self) -> str:
        """The path of the URL, with the slash at its beginning."""
        return f"{PREFIX}/{self.generation}/{self.shard}/{self.method}"


class NodeFacts(NamedTuple):
    """What a shard node has."""

    release: str  # of Periplus
    shards: tuple[int, ...]
    generations: tuple[str, ...]  # ids of the generations that it can search, the live one first
    weights: tuple[str, ...]  # identifies the `[ranking]` by which it selects candidates, for each generation

    def weights_of(self, generation: str) -> str:
        """Identifies the weights for a generation; empty when the node has it not."""
        return dict(zip(self.generations, self.weights, strict=False)).get(generation, "")


@lru_cache(maxsize=8)
def weights_id(weights: Ranking) -> str:
    """Identifies weights of the ranking."""
    return sha256(weights.model_dump_json().encode()).hexdigest()
