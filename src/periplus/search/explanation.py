"""Collects the numbers that explain the score of one result: features, weights, and words by field."""

from __future__ import annotations

import numpy as np

from periplus.config import Ranking
from periplus.model import Explanation
from periplus.search.open_index import OpenIndex
from periplus.search.query.terms import QueryTerms
from periplus.search.ranking import Scored
from periplus.search.score import FEATURES, score_parts, weight_vector

_FIELDS = ("title", "headings", "anchors", "url", "body")


def explanation(index: OpenIndex, terms: QueryTerms, one: Scored, weights: Ranking) -> Explanation:
    """The explanation of a result."""
    parts = score_parts(one.features, weights, one.crowding, one.preference)
    head = index.pages.head(one.number)
    page = np.array([one.number])
    found = {name: terms.hits(index.forward.read(page, name)).counts[0] > 0 for name in _FIELDS}
    found["page"] = found["title"] | found["body"] | found["url"]
    return Explanation(
        url=head.url,
        title=head.title or head.url,
        score=sum(parts.values()),
        parts=parts,
        features=dict(zip(FEATURES, one.features.tolist(), strict=True)),
        weights=dict(zip(FEATURES, weight_vector(weights).tolist(), strict=True)),
        words=len(terms),
        words_in={name: int(words.sum()) for name, words in found.items()},
        lower_ranks=index.lower_ranks(one.number),
        same_content=head.same_content,
    )
