"""Counts the pages of a shard that match a query by language, type, site and date.

tantivy counts with fast fields, all properties in one pass over the matches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from tantivy import Occur, Query

from periplus.index.documents.facets import DATE, HOST, LANGUAGE, TYPE
from periplus.index.documents.schema import NUMBER, SITE
from periplus.search.open_index import OpenIndex
from periplus.search.shards.port import FacetBuckets
from periplus.url import url_key

HOSTS_COUNTED = 100  # the hosts with the most matches; the count of any other host is unknown
_HOSTS_OF_SHARD = 1_000  # likewise, of a shard: the best of all shards are among them
_NAMES_COUNTED = 200  # languages; more than the language detector knows
_CACHED = 10_000  # hosts whose name is known, and whether they have subdomains
_SIGN = 1 << 63  # the index stores the hash of a host with a sign


class FacetCounter:
    """Counts in one shard; safe to share between threads."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._hosts = HOSTS_COUNTED if index.shard is None else _HOSTS_OF_SHARD
        self._has_subdomains = lru_cache(_CACHED)(self._find_subdomains)
        self._names: dict[int, str] = {}  # hosts by their hash

    def buckets(self, matching: Query, dates: Sequence[int]) -> FacetBuckets:
        """The counts over the matches of a query."""
        found = self._index.aggregate(matching, self._aggregations(dates))
        ranges = found[DATE]["buckets"] if dates else ()
        return FacetBuckets(
            languages=_counts(found[LANGUAGE]),
            types=_counts(found[TYPE]),
            hosts={key + _SIGN: count for key, count in _counts(found[HOST]).items()},
            dates={int(one["from"]): int(one["doc_count"]) for one in ranges if "from" in one},
        )

    def _aggregations(self, seconds: Sequence[int]) -> dict[str, Any]:
        """The request to tantivy; its ranges of dates must not overlap."""
        wanted: dict[str, Any] = {
            LANGUAGE: {"terms": {"field": LANGUAGE, "size": _NAMES_COUNTED}},
            TYPE: {"terms": {"field": TYPE, "size": _NAMES_COUNTED}},
            HOST: {"terms": {"field": HOST, "size": self._hosts}},
        }
        if seconds:
            ranges = [{"from": start, "to": end} for start, end in pairwise(seconds)] + [{"from": seconds[-1]}]
            wanted[DATE] = {"range": {"field": DATE, "ranges": ranges}}
        return wanted

    def host_names(self, matching: Query, keys: Sequence[int]) -> dict[int, str]:
        """The names of hosts with matches, from one matching page of each that is not known yet."""
        names = self._names  # of other threads, too: it is replaced, never changed
        if not names.keys() >= set(keys):
            page = {"max": {"field": NUMBER}}
            hosts = {HOST: {"terms": {"field": HOST, "size": self._hosts}, "aggs": {"page": page}}}
            pages = {
                bucket["key"] + _SIGN: int(bucket["page"]["value"])
                for bucket in self._index.aggregate(matching, hosts)[HOST]["buckets"]
            }
            new = {key: self._index.pages.head(pages[key]).host for key in keys if key in pages}
            names = self._names = (names if len(names) < _CACHED else {}) | new
        return {key: names[key] for key in keys if key in names}

    def site_counts(self, matching: Query, hosts: Sequence[str]) -> list[int]:
        """The matches of each host and its subdomains; -1 when the shard has no page of a subdomain."""
        return [self._of_site(matching, host) if self._has_subdomains(host) else -1 for host in hosts]

    def _of_site(self, matching: Query, host: str) -> int:
        parts = (matching, self._site(host))
        return self._index.count(Query.boolean_query([(Occur.Must, part) for part in parts]))

    def _find_subdomains(self, host: str) -> bool:
        hosts = {HOST: {"terms": {"field": HOST, "size": 2}}}
        found = self._index.aggregate(self._site(host), hosts)[HOST]["buckets"]
        return any(bucket["key"] + _SIGN != url_key(host) for bucket in found)

    def _site(self, host: str) -> Query:
        return Query.term_query(self._index.schema, SITE, host)


def _counts(found: Mapping[str, Any]) -> dict[int, int]:
    return {int(bucket["key"]): int(bucket["doc_count"]) for bucket in found["buckets"]}
