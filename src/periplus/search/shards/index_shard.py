"""A shard that is open in this process; an index without shards is one shard with all documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache

import numpy as np
from tantivy import Occur, Query

from periplus.config import Ranking
from periplus.index.documents.facets import NEWS
from periplus.index.documents.schema import SITE
from periplus.index.storage.pagestore import Head
from periplus.index.suggest.phrases import anchor_texts
from periplus.model import Hit, MediaHit, SiteBoosts
from periplus.search.cache.result_cache import generation_id
from periplus.search.hits import HitMaker
from periplus.search.interpret import Mode, Search, timed
from periplus.search.open_index import Integers, Numbers, OpenIndex
from periplus.search.query.parser import parse_query
from periplus.search.query.terms import QueryTerms
from periplus.search.query_language import QueryLanguage
from periplus.search.scoring.candidates import CandidateFinder, Candidates
from periplus.search.scoring.features import FeatureRows
from periplus.search.scoring.score import FEATURES, feature_matrix
from periplus.search.shards.facet_buckets import FacetCounter
from periplus.search.shards.global_idf import GlobalIdf, TermCounts
from periplus.search.shards.media_matches import MediaFinder
from periplus.search.shards.port import (
    Dated,
    FacetBuckets,
    Frequency,
    MatchSet,
    MediaMatch,
    MediaMatches,
    ShardCandidates,
    ShardFacts,
    ShardSearch,
    SitePages,
    StoredPage,
    Term,
)
from periplus.search.suggest.related import page_words

_REMEMBERED = 256  # interpreted queries
_RANKED = 50  # pages of a site that are ordered by rank; the index orders the others in steps of 5 %
_FIELDS = ("title", "headings", "anchors", "url", "body")
_NO_BOOSTS: Numbers = np.empty(0)
_ONLY_RANK = np.array([name == "rank" for name in FEATURES])


class IndexShard:
    """Answers requests from the files of one shard; safe to share between threads, never writes."""

    def __init__(self, index: OpenIndex, weights: Ranking) -> None:
        self.index = index
        self._finder = CandidateFinder(index, weights)
        self._hit_maker = HitMaker(index, self._finder)
        self._facets, self._media = FacetCounter(index), MediaFinder(index, weights)
        self._read = lru_cache(_REMEMBERED)(_interpreted)
        self._idf = lru_cache(_REMEMBERED)(self._global_idf)

    def _search(self, request: ShardSearch) -> Search:
        """The query of a request; the requests for one page differ in their frequencies only."""
        return self._read(request._replace(frequencies=()))

    def _global_idf(self, frequencies: tuple[Frequency, ...]) -> GlobalIdf | None:
        """None when there is one shard: then the request has no frequencies."""
        index = self.index
        own = TermCounts(index.frequency, index.own_documents, index.documents)
        return GlobalIdf(own, frequencies) if frequencies else None

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _global(self, numbers: Integers) -> Integers:
        """The numbers of documents in the whole collection."""
        return numbers if self.index.numbers is None else self.index.numbers[numbers].astype(np.int64)

    def _own(self, numbers: Sequence[int]) -> list[int]:
        """The numbers in this shard of those documents that it has."""
        known, wanted = self.index.numbers, np.array(numbers, np.int64)
        if known is None or not len(known):
            return wanted.tolist() if known is None else []
        places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        found: list[int] = places[known[places] == wanted].tolist()
        return found

    # -- searches ---------------------------------------------------------------------------------------------------

    def facts(self) -> ShardFacts:
        """What the shard is."""
        common, damage = self.index.common, self.index.common.check.damage
        return ShardFacts(
            shard=self.index.shard or 0,
            generation=generation_id(common.folder),
            documents=self.index.own_documents,
            hosts=self._hosts,
            newest=self.index.newest_date(),
            damage="" if damage is None else damage.sentence,
        )

    @cached_property
    def _hosts(self) -> int:
        return len(np.unique(self.index.hosts))

    def frequencies(self, terms: Sequence[Term]) -> list[int]:
        """The number of documents with each term."""
        return [self.index.frequency(*term) for term in terms]

    def media_frequencies(self, terms: Sequence[Term]) -> list[int]:
        """The number of images and videos with each term."""
        return self._media.frequencies(terms)

    def candidates(self, search: ShardSearch, blocks: int, site_boosts: SiteBoosts) -> ShardCandidates:
        """The candidates of the first blocks."""
        asked, steps = self._search(search), dict[str, float]()
        with timed(steps, "terms"):
            terms = self._terms(asked)
        with timed(steps, "candidates"):
            idf = self._idf(search.frequencies)
            found, lists = self._finder.select(asked.node, asked.words, asked.language, blocks, idf)
        with timed(steps, "features"):
            matrix = self._features(terms, found)
            boosts = self._boosts(found, dict(site_boosts)) if site_boosts else _NO_BOOSTS
        with timed(steps, "counts"):
            total = sum(one.total for one in lists)
            whole = total if asked.needs_all_words else self.index.count(self._matching(asked, MatchSet.WHOLE))
        hosts, numbers = self.index.hosts[found.numbers], self._global(found.numbers)
        return ShardCandidates(numbers, hosts, found.dates, matrix, boosts, lists, len(terms) > 0, whole, steps)

    def _terms(self, search: Search) -> QueryTerms:
        """The words of a search as numbers of the lexicon."""
        return QueryTerms(search.words, self.index.forward, search.language.possible, search.variants)

    def _features(self, terms: QueryTerms, found: Candidates) -> Numbers:
        """The features of candidates; a query without words orders them by rank alone."""
        if not len(found.numbers):
            return np.zeros((0, len(FEATURES)))
        matrix = feature_matrix(FeatureRows(self.index, terms, found).compute())
        return matrix if len(terms) else matrix * _ONLY_RANK

    def _boosts(self, found: Candidates, by_host: Mapping[str, float]) -> Numbers:
        """What the reader adds to the score of each candidate; the longest matching host counts."""
        _, first, places = np.unique(self.index.hosts[found.numbers], return_index=True, return_inverse=True)
        hosts = [self.index.pages.head(number).host for number in found.numbers[first].tolist()]
        return np.array([_boost_of(host, by_host) for host in hosts])[places]

    def hits(self, search: ShardSearch, numbers: Sequence[int], match_set: MatchSet) -> list[Hit]:
        """Results with snippets."""
        asked, own = self._search(search), self._own(numbers)
        return self._hit_maker.hits(own, asked, are_whole=match_set is MatchSet.WHOLE or asked.needs_all_words)

    def newest(self, search: ShardSearch, match_set: MatchSet, most: int) -> Dated:
        """The newest matches."""
        numbers, dates, total = self.index.newest_first(self._matching(self._search(search), match_set), most)
        return Dated(self._global(np.array(numbers, np.int64)).tolist(), dates, total)

    def count(self, search: ShardSearch, match_set: MatchSet) -> int:
        """The number of matches."""
        return self.index.count(self._matching(self._search(search), match_set))

    def among(self, search: ShardSearch, numbers: Sequence[int]) -> list[int]:
        """Those of the documents that match the query as a whole."""
        found = self.index.among(self._matching(self._search(search), MatchSet.WHOLE), self._own(numbers))
        return list[int](self._global(np.array(found, np.int64)).tolist())

    def _matching(self, search: Search, match_set: MatchSet) -> Query:
        """Matches the pages of a match set."""
        is_whole = match_set in (MatchSet.WHOLE, MatchSet.WHOLE_NEWS)
        query = self._finder.matching(search.root if is_whole else search.node, search.language)
        if match_set in (MatchSet.RESULTS, MatchSet.WHOLE):
            return query
        is_news = Query.const_score_query(Query.term_query(self.index.schema, NEWS, 1), 0.0)
        return Query.boolean_query([(Occur.Must, query), (Occur.Must, is_news)])

    def facets(self, search: ShardSearch, dates: Sequence[int]) -> FacetBuckets:
        """The results by property."""
        return self._facets.buckets(self._matching(self._search(search), MatchSet.RESULTS), dates)

    def host_names(self, search: ShardSearch, keys: Sequence[int]) -> dict[int, str]:
        """The names of hosts of results by their hash."""
        return self._facets.host_names(self._matching(self._search(search), MatchSet.RESULTS), keys)

    def site_counts(self, search: ShardSearch, hosts: Sequence[str]) -> list[int]:
        """The number of results of each host with its subdomains."""
        return self._facets.site_counts(self._matching(self._search(search), MatchSet.RESULTS), hosts)

    def media(self, search: ShardSearch, kind: str) -> MediaMatches:
        """The best images or videos of the pages."""
        found = self._media.matches(self._search(search), kind, search.frequencies)
        return found._replace(whole=self._renumbered(found.whole), partial=self._renumbered(found.partial))

    def _renumbered(self, found: list[MediaMatch]) -> list[MediaMatch]:
        numbers = self._global(np.array([one.number for one in found], np.int64)).tolist()
        return [one._replace(number=number) for one, number in zip(found, numbers, strict=True)]

    def media_hits(self, kind: str, found: Sequence[MediaMatch]) -> list[MediaHit]:
        """Images or videos as results."""
        own = [(one, self._own([one.number])) for one in found]
        return [self._media.hit(one._replace(number=numbers[0]), kind) for one, numbers in own if numbers]

    def words_in(self, search: ShardSearch, number: int) -> dict[str, int]:
        """The number of words of the query, and how many of them each field of a page has."""
        if not (own := self._own([number])):
            return {}
        terms, page = self._terms(self._search(search)), np.array(own)
        found = {name: terms.hits(self.index.forward.read(page, name)).counts[0] > 0 for name in _FIELDS}
        found["page"] = found["title"] | found["body"] | found["url"]
        return {"query": len(terms)} | {name: int(words.sum()) for name, words in found.items()}

    # -- pages ------------------------------------------------------------------------------------------------------

    def find(self, url: str) -> int | None:
        """The number of the document with this URL."""
        own = self.index.find(url)
        return None if own is None else int(self._global(np.array([own]))[0])

    def heads(self, numbers: Sequence[int]) -> list[Head]:
        """URL, titles, description, dates and first characters of pages."""
        return [self.index.pages.head(number) for number in self._own(numbers)]

    def heads_of(self, urls: Sequence[str]) -> dict[str, Head]:
        """The same of the pages with these URLs."""
        found = {url: self.index.find(url) for url in urls}
        return {url: self.index.pages.head(number) for url, number in found.items() if number is not None}

    def texts(self, numbers: Sequence[int]) -> list[str]:
        """The texts of pages."""
        return [self.index.pages.text(number) for number in self._own(numbers)]

    def page(self, number: int) -> StoredPage | None:
        """A page with everything that the index holds about it."""
        index = self.index
        for own in self._own([number]):
            anchors = list(anchor_texts(index.forward.words(own, "anchors").tolist(), index.forward.lexicon))
            pages, rank = index.pages, float(index.ranks[own])
            words = page_words(index.forward, own)
            return StoredPage(number, pages.head(own), pages.details(own), pages.text(own), anchors, words, rank)
        return None

    def lower_ranks(self, rank: float) -> int:
        """The number of documents with a lower rank."""
        return int(np.count_nonzero(self.index.ranks < rank))

    def site(self, host: str, most: int) -> SitePages:
        """The pages of a site."""
        index, pages = self.index, self.index.pages
        of_site = Query.const_score_query(Query.term_query(index.schema, SITE, host), 1.0)
        found = index.matches(of_site, _RANKED, with_prior=True)
        newest, dates, _ = index.newest_first(of_site, 1)
        ranks, numbers = index.ranks[found.numbers], self._global(found.numbers)
        best = np.lexsort((numbers, -ranks))[:most]
        heads = [pages.head(number) for number in found.numbers[best].tolist()]
        listed = list(zip(ranks[best].tolist(), numbers[best].tolist(), heads, strict=True))
        return SitePages(found.total, pages.head(newest[0]) if newest else None, dates[0] if dates else 0, listed)


def _interpreted(request: ShardSearch) -> Search:
    root = parse_query(request.query).root
    if root is None:
        raise ValueError(f"not a query: {request.query!r}")
    language = QueryLanguage(dict(request.likely), request.ignored)
    variants = {word: list(forms) for word, forms in request.variants}
    return Search(root, Mode(request.mode), list(request.words), variants, language, {})


def _boost_of(host: str, by_host: Mapping[str, float]) -> float:
    while host and host not in by_host:
        host = host.partition(".")[2]
    return by_host.get(host, 0.0)
