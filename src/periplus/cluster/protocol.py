"""The paths, records and statuses of the interface between a broker and its shard nodes."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from periplus.config import Ranking

VERSION = 1  # changes with every record that is exchanged
PREFIX = f"/shards/v{VERSION}"
FACTS = f"{PREFIX}/facts"
MOST_REQUEST_BYTES = 4 << 20  # of a request; the longest has the words and frequencies of a query of 2,048 characters
NO_SUCH_GENERATION = 410  # the node has not, or no longer, this shard of this generation
BUSY = 503


class NodeFacts(NamedTuple):
    """What a shard node has."""

    release: str  # of Periplus
    shards: tuple[int, ...]
    generations: tuple[str, ...]  # ids of the generations that it can search, the live one first
    weights: str  # identifies its `[ranking]`, by which it selects candidates


def weights_id(weights: Ranking) -> str:
    """Identifies weights of the ranking."""
    return sha256(weights.model_dump_json().encode()).hexdigest()
