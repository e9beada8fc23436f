"""A shard answers for its own documents, with the statistics of the whole collection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from periplus.errors import DamagedFile
from periplus.index.documents.schema import field
from periplus.search.query.parser import ParsedQuery, parse_query
from periplus.search.shards.global_idf import GlobalIdf, TermCounts
from periplus.search.shards.index_shard import IndexShard
from periplus.search.shards.open_shards import open_common, open_local, open_shard
from periplus.search.shards.port import Frequency, MatchSet, Shard, ShardSearch, Term
from periplus.store.generations import INDEX_KIND, Generation, Generations
from search.library import settings
from search.shards.generated import SHARDS, Libraries, vocabulary

pytestmark = pytest.mark.slow
WORD, OTHER = vocabulary(1_500)[8:10]
SEARCH = ShardSearch(WORD, "auto", (WORD,), (), (("de", 0.2), ("en", 0.8)), frozenset())


def generation(libraries: Libraries, *, shards: bool = True) -> Generation:
    found = Generations((libraries.shards if shards else libraries.one).index, INDEX_KIND).open_live()
    assert found is not None
    return found


@contextmanager
def opened_shard(libraries: Libraries) -> Iterator[IndexShard]:
    """The second shard, without anything that other tests have asked it."""
    _, group, opened = open_local(generation(libraries), settings().ranking)
    yield opened[1]
    group.close()


@pytest.fixture(scope="module")
def shards(collections: Libraries) -> Iterator[list[IndexShard]]:
    _, group, opened = open_local(generation(collections), settings().ranking)
    yield opened
    group.close()


@pytest.fixture(scope="module")
def whole(collections: Libraries) -> Iterator[IndexShard]:
    _, group, opened = open_local(generation(collections, shards=False), settings().ranking)
    yield opened[0]
    group.close()


def test_counts_of_the_shards_add_up(shards: list[IndexShard], whole: IndexShard) -> None:
    terms = [Term(field(name, language), WORD) for name in ("title", "body") for language in ("en", "de")]
    assert [sum(column) for column in zip(*(one.frequencies(terms) for one in shards), strict=True)] == (
        whole.frequencies(terms)
    )
    for match_set in MatchSet:
        assert sum(one.count(SEARCH, match_set) for one in shards) == whole.count(SEARCH, match_set)
    assert [one.facts().shard for one in shards] == list(range(SHARDS))
    assert sum(one.facts().documents for one in shards) == whole.facts().documents
    assert len({one.facts().generation for one in shards}) == 1


def test_documents_have_the_numbers_of_the_whole_collection(shards: list[IndexShard], whole: IndexShard) -> None:
    found = whole.newest(SEARCH, MatchSet.RESULTS, 20).numbers
    urls = [head.url for head in whole.heads(found)]
    for number, url in zip(found, urls, strict=True):
        (own,) = [one for one in shards if one.find(url) is not None]
        assert own.find(url) == number
        assert [head.url for head in own.heads(found) if head.url == url] == [url]
        page, expected = own.page(number), whole.page(number)
        assert page is not None
        assert expected is not None
        assert page._replace(details=expected.details) == expected  # archives differ in their times
        assert own.texts([number]) == whole.texts([number])
        assert own.words_in(SEARCH, number) == whole.words_in(SEARCH, number)
        others: list[Shard] = [one for one in shards if one is not own]
        assert all(one.page(number) is None and one.words_in(SEARCH, number) == {} for one in others)
        assert all(one.hits(SEARCH, [number], MatchSet.WHOLE) == [] for one in others)
    assert sorted(number for one in shards for number in one.among(SEARCH, found)) == sorted(found)


def test_features_of_a_page_are_the_same_in_a_shard(shards: list[IndexShard], whole: IndexShard) -> None:
    expected = whole.candidates(SEARCH, 4, ())
    rows = dict(zip(expected.numbers.tolist(), expected.features.tolist(), strict=True))
    seen = 0
    for shard in shards:
        found = shard.candidates(SEARCH, 4, ())
        for number, row in zip(found.numbers.tolist(), found.features.tolist(), strict=True):
            seen += number in rows
            assert rows.get(number, row) == row  # to the last bit
    assert seen >= 0.95 * len(rows)


def test_a_word_that_is_rare_in_a_shard_counts_no_more_there(shards: list[IndexShard], whole: IndexShard) -> None:
    name = field("body", "en")
    frequencies = [
        Frequency(Term(name, word), whole.index.frequency(name, word)) for word in vocabulary(1_500)[100:130]
    ]
    for shard in shards:
        own = TermCounts(shard.index.frequency, shard.index.own_documents, shard.index.documents)
        assert GlobalIdf(own, ()).factor(name, [frequencies[0].term.text]) == 1.0  # unknown
        idf = GlobalIdf(own, frequencies)
        for (_, word), everywhere in frequencies:
            share = shard.index.frequency(name, word) / shard.index.own_documents
            factor = idf.factor(name, [word])
            if share > 1.5 * everywhere / whole.index.own_documents:
                assert factor > 1.0
            elif 0 < share < everywhere / whole.index.own_documents / 1.5:
                assert factor < 1.0


def frequencies(word: str, documents: int) -> tuple[Frequency, ...]:
    return tuple(Frequency(Term(field(name, "en"), word), documents) for name in ("title", "head", "anchors", "body"))


def list_scores(shard: IndexShard, search: ShardSearch) -> list[list[float]]:
    return [one.scores.tolist() for one in shard.candidates(search, 1, ()).lists]


def test_frequencies_that_lacked_a_shard_do_not_change_later_scores(collections: Libraries) -> None:
    during, after = (SEARCH._replace(frequencies=frequencies(WORD, documents)) for documents in (40, 200))
    with opened_shard(collections) as one, opened_shard(collections) as other:
        partial, complete = list_scores(one, during), list_scores(one, after)
        assert complete == list_scores(other, after) != partial
        assert list_scores(other, during) == partial


def test_a_word_that_another_query_excludes_keeps_its_score(collections: Libraries) -> None:
    without = SEARCH._replace(query=f"{OTHER} -{WORD}", words=(OTHER,), frequencies=frequencies(OTHER, 50))
    both = frequencies(OTHER, 50) + frequencies(WORD, 400)
    wanted = SEARCH._replace(query=f"{OTHER} {WORD}", mode="and", words=(OTHER, WORD), frequencies=both)
    with opened_shard(collections) as one, opened_shard(collections) as other:
        list_scores(one, without)
        assert list_scores(one, wanted) == list_scores(other, wanted)


def test_the_requests_for_one_page_are_interpreted_once(
    collections: Libraries, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker sends the frequencies with the first request only."""
    parsed: list[str] = []

    def recording(query: str) -> ParsedQuery:
        parsed.append(query)
        return parse_query(query)

    monkeypatch.setattr("periplus.search.shards.index_shard.parse_query", recording)
    with opened_shard(collections) as shard:
        found = shard.candidates(SEARCH._replace(frequencies=frequencies(WORD, 7)), 1, ())
        assert shard.hits(SEARCH, found.numbers[:2].tolist(), MatchSet.RESULTS)
        assert shard.count(SEARCH, MatchSet.RESULTS)
    assert parsed == [WORD]


def test_a_node_opens_only_its_own_shards(collections: Libraries) -> None:
    opened = generation(collections)
    common = open_common(opened, [1])
    names = set(opened.files)
    assert not any(name.startswith(("shard-0/", "shard-2/")) for name in names)
    assert "shard-1/ranks.npy" in names
    assert "forward/forward.json" in names
    shard = open_shard(common, 1, settings().ranking)
    assert shard.count(SEARCH, MatchSet.RESULTS) > 0
    shard.index.close()
    common.close()


def test_a_damaged_shard_is_refused(collections: Libraries) -> None:
    opened = generation(collections)
    opened.meta["shard_documents"][2] += 1
    with pytest.raises(DamagedFile, match="number of documents"):
        open_local(opened, settings().ranking)
