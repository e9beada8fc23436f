"""Makes the text scores of a shard those of the whole collection.

tantivy weights a term by its frequency in the shard. The frequency in the whole collection comes with the request, and
the term is boosted by the ratio of both weights. Without that, a list of candidates would prefer the shards in which a
word happens to be rare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log1p
from typing import NamedTuple

from periplus.search.shards.port import Frequency


class TermCounts(NamedTuple):
    """What one shard has of an index."""

    frequency: Callable[[str, str], int]  # the number of its documents with a term of a field
    own_documents: int
    documents: int  # of all shards


class GlobalIdf:
    """The ratio of the weights of terms in the whole collection and in one shard, for one request.

    Nothing is kept from other requests: while a shard is missing, the frequencies of a request are too low.
    """

    def __init__(self, shard: TermCounts, frequencies: Sequence[Frequency]) -> None:
        """*frequencies*: in the whole collection, from the request."""
        self._shard = shard
        self._everywhere = {(field, term): documents for (field, term), documents in frequencies}

    def factor(self, field: str, terms: Sequence[str]) -> float:
        """The factor for the score of a term or phrase; 1 when the request does not tell its frequency."""
        everywhere = [self._everywhere.get((field, term), 0) for term in terms]
        if not all(everywhere):
            return 1.0
        here = [self._shard.frequency(field, term) for term in terms]
        if not all(here):
            return 1.0
        own = sum(_idf(count, self._shard.own_documents) for count in here)
        return sum(_idf(count, self._shard.documents) for count in everywhere) / own


def _idf(frequency: int, documents: int) -> float:
    """The weight that tantivy gives a term."""
    return log1p((documents - frequency + 0.5) / (frequency + 0.5))
