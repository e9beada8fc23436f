"""Collects the numbers that explain the score of one result: features, weights, and words by field."""

from __future__ import annotations

from collections.abc import Mapping

from periplus.config import Ranking
from periplus.index.storage.pagestore import Head
from periplus.model import Explanation
from periplus.search.ranking import Scored
from periplus.search.scoring.score import FEATURES, score_parts, weight_vector


def explanation(
    head: Head, one: Scored, words_in: Mapping[str, int], lower_ranks: float, weights: Ranking
) -> Explanation:
    """The explanation of a result; *words_in*: as `Shard.words_in` gives them."""
    parts = score_parts(one.features, weights, one.crowding, one.boost)
    return Explanation(
        url=head.url,
        title=head.title or head.url,
        score=sum(parts.values()),
        parts=parts,
        features=dict(zip(FEATURES, one.features.tolist(), strict=True)),
        weights=dict(zip(FEATURES, weight_vector(weights).tolist(), strict=True)),
        words=words_in["query"],
        words_in={name: count for name, count in words_in.items() if name != "query"},
        lower_ranks=lower_ranks,
        same_content=head.same_content,
    )
