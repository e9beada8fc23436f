"""Counts the pages that match a query by language, type, site and date.

Each count is the number of results of the same query with one more operator: `lang:`, `filetype:`, `site:` or `after:`.
tantivy counts with fast fields, all properties in one pass over the matches.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import Any

from tantivy import Occur, Query

from periplus.index.facets import DATE, HOST, LANGUAGE, TYPE, name_of_number
from periplus.index.schema import NUMBER, SITE
from periplus.model import FacetCounts
from periplus.search.open_index import OpenIndex
from periplus.search.query.operators import FILE_TYPES, read_operator, seconds_of
from periplus.url import url_key

_MOST_SITES = 6
_HOSTS_COUNTED = 100  # the hosts with the most matches; the count of any other host is unknown
_NAMES_COUNTED = 200  # languages; more than the language detector knows
_CACHED = 10_000  # hosts whose name is known, and whether they have subdomains
_SIGN = 1 << 63  # the index stores the hash of a host with a sign


class FacetCounter:
    """Counts in one index; safe to share between threads."""

    def __init__(self, index: OpenIndex) -> None:
        self._index = index
        self._has_subdomains = lru_cache(_CACHED)(self._find_subdomains)
        self._names: dict[int, str] = {}  # hosts by their hash

    def count(self, matching: Query, dates: Sequence[str] = (), hosts: Sequence[str] = ()) -> FacetCounts:
        """The counts over the matches of a query; *dates* such as 2026-05-17, *hosts* besides those with most pages."""
        days = sorted(set(dates))
        found = self._index.aggregate(matching, _aggregations([seconds_of(day) for day in days]))
        by_host = {bucket["key"] + _SIGN: bucket["doc_count"] for bucket in found[HOST]["buckets"]}
        top = self._named_hosts(matching, list(by_host)[:_MOST_SITES])
        keys = {host: url_key(host) for host in (*top, *hosts)}
        sites = {host: self._of_site(matching, host, by_host[key]) for host, key in keys.items() if key in by_host}
        return FacetCounts(
            languages=tuple(_named(found[LANGUAGE], "lang")),
            types=tuple((name, count) for name, count in _named(found[TYPE], "filetype") if name in FILE_TYPES),
            sites=tuple(sorted(((host, sites[host]) for host in top), key=lambda entry: -entry[1])),
            newer=_newer(found, days),
            hosts={host: sites[host] for host in hosts if host in sites},
        )

    def _named_hosts(self, matching: Query, keys: Sequence[int]) -> list[str]:
        """The names of the hosts with the most matches, from one matching page of each that is not known yet."""
        names = self._names  # of other threads, too: it is replaced, never changed
        if not names.keys() >= set(keys):
            page = {"max": {"field": NUMBER}}
            hosts = {HOST: {"terms": {"field": HOST, "size": _HOSTS_COUNTED}, "aggs": {"page": page}}}
            pages = {
                bucket["key"] + _SIGN: int(bucket["page"]["value"])
                for bucket in self._index.aggregate(matching, hosts)[HOST]["buckets"]
            }
            new = {key: self._index.pages.head(pages[key]).host for key in keys if key in pages}
            names = self._names = (names if len(names) < _CACHED else {}) | new
        return [names[key] for key in keys if key in names]

    def _of_site(self, matching: Query, host: str, own: int) -> int:
        """The matches of a host and its subdomains; *own* are those of the host itself."""
        if not self._has_subdomains(host):
            return own
        parts = (matching, self._site(host))
        return self._index.count(Query.boolean_query([(Occur.Must, part) for part in parts]))

    def _find_subdomains(self, host: str) -> bool:
        hosts = {HOST: {"terms": {"field": HOST, "size": 2}}}
        return len(self._index.aggregate(self._site(host), hosts)[HOST]["buckets"]) > 1

    def _site(self, host: str) -> Query:
        return Query.term_query(self._index.schema, SITE, host)


def _aggregations(seconds: Sequence[int]) -> dict[str, Any]:
    """The request to tantivy; its ranges of dates must not overlap."""
    wanted: dict[str, Any] = {
        LANGUAGE: {"terms": {"field": LANGUAGE, "size": _NAMES_COUNTED}},
        TYPE: {"terms": {"field": TYPE, "size": _NAMES_COUNTED}},
        HOST: {"terms": {"field": HOST, "size": _HOSTS_COUNTED}},
    }
    if seconds:
        ranges = [{"from": start, "to": end} for start, end in pairwise(seconds)] + [{"from": seconds[-1]}]
        wanted[DATE] = {"range": {"field": DATE, "ranges": ranges}}
    return wanted


def _named(found: Mapping[str, Any], operator: str) -> Iterator[tuple[str, int]]:
    """Names and counts; names that the operator does not accept are left out."""
    for bucket in found["buckets"]:
        name = name_of_number(int(bucket["key"]))
        node, _ = read_operator(operator, name) if name else (None, "")
        if node is not None and str(node) == f"{operator}:{name}":
            yield name, bucket["doc_count"]


def _newer(found: Mapping[str, Any], days: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The number of pages since each day, from the number between two days."""
    if not days:
        return ()
    buckets = {int(bucket["from"]): bucket["doc_count"] for bucket in found[DATE]["buckets"] if "from" in bucket}
    counts = accumulate(buckets.get(seconds_of(day), 0) for day in reversed(days))
    return tuple(zip(reversed(days), counts, strict=True))
