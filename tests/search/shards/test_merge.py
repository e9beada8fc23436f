"""A search over shards finds what one index finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from periplus.model import Results
from periplus.search.scoring.candidates import CandidateList, candidates_per_shard
from periplus.search.scoring.score import FEATURES
from periplus.search.shards.merge import MergedCandidates
from periplus.search.shards.port import ShardCandidates
from search.library import urls
from search.shards.generated import Both, queries

pytestmark = pytest.mark.slow


def without_times(results: Results) -> Results:
    return replace(results, seconds=0.0, steps={}, hits=(), shards=1)


def overlap(one: Results, other: Results) -> float:
    if not one.hits and not other.hits:
        return 1.0
    return len(set(urls(one)) & set(urls(other))) / max(len(one.hits), len(other.hits))


def test_500_searches_over_four_shards_find_the_results_of_one_index(both: Both) -> None:
    overlaps, same = [], 0
    for query in queries(500):
        one, shards = (engine.search(query, size=10) for engine in both)
        assert without_times(shards) == without_times(one)  # counts, corrections, hints
        overlaps.append(overlap(one, shards))
        same += shards.hits == one.hits
    assert np.mean(overlaps) >= 0.99
    assert same >= 475  # mean lengths of fields differ a little, so a list may end with another page


@pytest.mark.parametrize("mode", ["auto", "and", "or"])
def test_counts_and_facets_are_those_of_one_index(both: Both, mode: str) -> None:
    for query in queries(40):
        options = {"mode": mode, "dates": ("2020-11-01", "2021-03-01"), "hosts": ("host3.test", "docs.host4.test")}
        one, shards = both
        assert shards.facets(query, **options) == one.facets(query, **options)  # type: ignore[arg-type]
        assert shards.count(query, mode=mode) == one.count(query, mode=mode)
        assert shards.count_news(query, mode=mode) == one.count_news(query, mode=mode)
        assert shards.count_media(query, "image", mode=mode) == one.count_media(query, "image", mode=mode)


def test_deep_pages_are_slices_of_the_same_list(both: Both) -> None:
    query = max(queries(100), key=lambda query: both.one.search(query).total)
    total = both.one.search(query).total
    assert total > 300  # more than one block
    for page in (1, 2):  # where one block ends, and the next begins, a few pages differ
        one, shards = (urls(engine.search(query, page=page, size=50)) for engine in both)
        assert len(set(one) & set(shards)) >= 45
    pages = (both.shards.search(query, page=page, size=50) for page in range(1, total // 50 + 2))
    everything = [url for results in pages for url in urls(results)]
    assert len(everything) == len(set(everything)) == total


def test_news_images_and_boosted_sites_are_those_of_one_index(both: Both) -> None:
    boosts = (("host3.test", 2.0), ("docs.host5.test", -1.0))
    for query in queries(30):
        one, shards = both
        assert urls(shards.news(query)) == urls(one.news(query))
        found, expected = (engine.media(query, "image", size=5) for engine in (shards, one))
        assert (found.total, found.total_is_exact) == (expected.total, expected.total_is_exact)
        assert overlap(shards.search(query, site_boosts=boosts), one.search(query, site_boosts=boosts)) >= 0.9
        assert shards.feature_table(query, 5, site_boosts=boosts).weights == one.feature_table(query, 5).weights


def test_what_is_known_about_a_page_does_not_depend_on_shards(both: Both) -> None:
    query = next(query for query in queries(20) if both.one.search(query).total > 5)
    found = urls(both.one.search(query, size=5))
    one, shards = both
    for url in found:
        assert shards.explanation(query, url) == one.explanation(query, url)
        assert shards.page_words(url) == one.page_words(url)
        assert shards.cached(url) == one.cached(url) is not None
    assert shards.best_texts(query, 3) == one.best_texts(query, 3)
    assert shards.related(query, found) == one.related(query, found)
    assert shards.complete("k") == one.complete("k") != []
    site, expected = (engine.pages.site("host3.test", 3) for engine in (shards, one))
    assert site._replace(newest=None) == expected._replace(newest=None)  # several pages are equally new
    assert replace(shards.facts(), built_at=0.0) == replace(one.facts(), built_at=0.0)
    assert shards.cached("http://unknown.test/") is None


def test_a_list_of_a_shard_is_long_enough_for_the_best_of_all_shards() -> None:
    assert candidates_per_shard(150, 1) == 150
    assert candidates_per_shard(10, 4) == 10  # short lists are not divided
    chance = np.random.default_rng(1)
    largest = chance.multinomial(150, [1 / 4] * 4, size=2_000).max(axis=1)
    assert np.mean(largest > candidates_per_shard(150, 4)) < 0.001
    assert (
        4 * candidates_per_shard(150, 4) < 2 * 150
    )  # and the features of all shards cost less than twice those of one index


def candidates(numbers: list[int], scores: list[float], dates: list[int], limit: int) -> ShardCandidates:
    size = len(numbers)
    own = CandidateList(np.arange(size), np.array(scores), limit, size, is_complete=True)
    features = np.zeros((size, len(FEATURES)))
    hosts = np.zeros(size, np.uint64)
    arrays = (np.array(numbers), hosts, np.array(dates), features, np.empty(0))
    return ShardCandidates(*arrays, (own,), has_words=True, with_all_words=0, steps={})


def test_a_list_is_cut_where_one_index_would_cut_it_and_freshness_is_that_of_the_block() -> None:
    year = 365 * 86_400
    answers = {0: candidates([1, 4], [9.0, 2.0], [year, 0], 2), 3: candidates([2, 3], [5.0, 4.0], [0, 2 * year], 2)}
    merged = MergedCandidates(answers, 1)
    (block,) = merged.blocks()
    assert (block.numbers.tolist(), block.shards.tolist()) == ([1, 2], [0, 3])
    assert block.features[:, FEATURES.index("freshness")].tolist() == [1.0, 0.5]
    assert (merged.total, merged.is_complete) == (4, False)
    first, second = MergedCandidates(answers, 2).blocks()
    assert (first.numbers.tolist(), second.numbers.tolist()) == ([1, 2], [4, 3])
    assert MergedCandidates(answers, 4).is_complete
