"""The score of a page: a weighted sum of named features. The weights are the settings of `[ranking]`.

Feature by feature, the score answers: how much of the query does the page have, and where? A share of the query counts
rare words more (idf), so that in "install gimp" *gimp* is the larger share.

===================  ==============================================================================================
text                 logarithm of BM25 of title and text
coverage             share of the query in title, text or the name of the site; its cube
window               largest share of the query within 30 words of the text, or in the title; its 4th power
pairs                share of neighbouring words of the query that are neighbours in title or text
title, title_exact   share of the query in the title; and how much of the title is the query
headings, anchors    share of the query in headings; logarithm of BM25 of the anchor texts
url, url_tail        share of the query in the path of the URL; and in its last part, if that has no other words
site, front          share of the query that names the site; and how near its front page is, if all of it does
meaning_*            similarity of the query and title, headings or opening by word vectors
language             probability that the query is in the language of the page
code                 share of the code-like tokens of the query that the page has as they are written
generated            1 for source listings, generated indexes and release notes
length               logarithm of the number of words
rank, quality        logarithm of PageRank; quality of the page and its host, from -0.5 to 0.5
freshness            1 for the newest candidate, half for a page that is a year older
crowding             less than 0 when better results of the same host come first
preference           what the reader adds to, or takes from, the scores of this site
===================  ==============================================================================================
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import numpy as np

from periplus.config import Ranking
from periplus.search.open_index import Integers, Numbers

FEATURES = (
    "text",
    "coverage",
    "window",
    "pairs",
    "title",
    "title_exact",
    "headings",
    "anchors",
    "url",
    "url_tail",
    "site",
    "front",
    "meaning_title",
    "meaning_headings",
    "meaning_opening",
    "language",
    "code",
    "generated",
    "length",
    "rank",
    "quality",
    "freshness",
)
MOST_CROWDED = 3  # times that a result loses `crowding`


def _require_weights() -> None:
    """A feature without a weight in `[ranking]` fails at import, not at the first query."""
    missing = [name for name in FEATURES if name not in Ranking.model_fields]
    if missing:
        raise TypeError(f"ranking features without a weight in config.Ranking: {', '.join(missing)}")


_require_weights()


def feature_matrix(features: Mapping[str, Numbers]) -> Numbers:
    """One row per page, one column per feature, in the order of `FEATURES`."""
    return np.stack([features[name] for name in FEATURES], axis=1)


def weight_vector(weights: Ranking) -> Numbers:
    """The weights in the order of `FEATURES`."""
    return np.array([getattr(weights, name) for name in FEATURES], np.float64)


def contributions(row: Numbers, weights: Ranking) -> dict[str, float]:
    """Every feature of one page times its weight; the score is their sum."""
    return dict(zip(FEATURES, (row * weight_vector(weights)).tolist(), strict=True))


def score_parts(row: Numbers, weights: Ranking, lost: float, boost: float) -> dict[str, float]:
    """The parts of a score: the contributions, what crowding takes, and what the reader adds; the latter unless 0."""
    parts = contributions(row, weights) | {"crowding": lost}
    return parts | {"preference": boost} if boost else parts


def scores_of(matrix: Numbers, weights: Ranking) -> Numbers:
    """The scores of the pages in the rows, without crowding.

    Products are added one by one in the order of `FEATURES`: numpy adds whole rows so, but not columns. A browser that
    does the same gets the same bits, and the same order.
    """
    products = np.ascontiguousarray(matrix.T) * weight_vector(weights)[:, None]
    return np.asarray(products.sum(axis=0))


def ordered(
    scores: Numbers, numbers: Integers, hosts: Sequence[Hashable], weights: Ranking, *, crowded: bool
) -> tuple[Integers, Numbers]:
    """The places of the pages, best first, and what each of them loses; *numbers* decide between equal scores."""
    order = np.lexsort((numbers, -scores))
    losses = np.array(crowding([hosts[place] for place in order], weights) if crowded else [0.0] * len(hosts))
    final = np.argsort(-(scores[order] + losses), kind="stable")
    return order[final], losses[final]


def crowding(hosts: Sequence[Hashable], weights: Ranking) -> list[float]:
    """What each result loses to better results of its host; *hosts* are those of the results, best first."""
    free = weights.per_host - 1  # better results of its host that cost nothing
    by_count = [-weights.crowding * max(count - free, 0) for count in range(free + MOST_CROWDED + 1)]
    last = len(by_count) - 1
    seen = dict.fromkeys(hosts, 0)
    losses = []
    for host in hosts:
        count = seen[host]
        losses.append(by_count[count])
        if count < last:
            seen[host] = count + 1
    return losses
