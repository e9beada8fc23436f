"""Makes the text scores of a shard those of the whole collection.

tantivy weights a term by its frequency in the shard. The frequency in the whole collection comes with the query, and
the term is boosted by the ratio of both weights. Without that, a list of candidates would prefer the shards in which a
word happens to be rare.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import log1p

from periplus.search.open_index import OpenIndex
from periplus.search.shards.port import Frequency, Term

_MOST_KNOWN = 200_000  # terms; some 20 MB


class ShardRarity:
    """The ratio of the weights of terms in the whole collection and in one shard; safe to share between threads."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._known: dict[Term, int] = {}  # number of documents of the whole collection

    def learn(self, frequencies: Iterable[Frequency]) -> None:
        """Remembers frequencies, which never change in a generation."""
        new = {Term(*term): documents for term, documents in frequencies}
        if not new.keys() <= self._known.keys():  # of other threads, too: the dictionary is replaced, never changed
            self._known = (self._known if len(self._known) < _MOST_KNOWN else {}) | new

    def factor(self, field: str, terms: Sequence[str]) -> float:
        """The factor for the score of a term or phrase; 1 when its frequency in the whole collection is unknown."""
        known = self._known
        everywhere = [known.get(Term(field, term), 0) for term in terms]
        here = [self._index.frequency(field, term) for term in terms]
        if not all(everywhere) or not all(here):
            return 1.0
        own = sum(_idf(count, self._index.own_documents) for count in here)
        return sum(_idf(count, self._index.documents) for count in everywhere) / own


def _idf(frequency: int, documents: int) -> float:
    """The weight that tantivy gives a term."""
    return log1p((documents - frequency + 0.5) / (frequency + 0.5))
