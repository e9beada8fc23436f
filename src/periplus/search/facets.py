"""Counts the pages that match a query by language, type, site and date.

Each count is the number of results of the same query with one more operator: `lang:`, `filetype:`, `site:` or `after:`.
The counts of all shards are added up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from periplus.index.documents.facets import name_of_number
from periplus.model import FacetCounts
from periplus.search.query.operators import FILE_TYPES, read_operator, seconds_of
from periplus.search.shards.facet_buckets import HOSTS_COUNTED
from periplus.search.shards.group import TrackedShards
from periplus.search.shards.port import FacetBuckets, ShardSearch
from periplus.url import url_key

_MOST_SITES = 6


class Facets:
    """Counts over all shards; safe to share between threads."""

    def __init__(self, group: TrackedShards) -> None:
        self._group = group

    def count(self, search: ShardSearch, dates: Sequence[str] = (), hosts: Sequence[str] = ()) -> FacetCounts:
        """The counts over the results; *dates* such as 2026-05-17, *hosts* besides those with most pages."""
        days = sorted(set(dates))
        seconds = [seconds_of(day) for day in days]
        found = self._group.ask(lambda shard: shard.facets(search, seconds))
        by_host = dict(_most_first(_sum(one.hosts for one in found.values()))[:HOSTS_COUNTED])
        top = self._named_hosts(search, list(by_host)[:_MOST_SITES])
        keys = {host: url_key(host) for host in (*top, *hosts)}
        sites = self._of_sites(search, {host: key for host, key in keys.items() if key in by_host}, found)
        newer = _sum(one.dates for one in found.values())
        return FacetCounts(
            languages=tuple(_named(_sum(one.languages for one in found.values()), "lang")),
            types=tuple(
                (name, count)
                for name, count in _named(_sum(one.types for one in found.values()), "filetype")
                if name in FILE_TYPES
            ),
            sites=tuple(sorted(((host, sites[host]) for host in top), key=lambda entry: -entry[1])),
            newer=_newer(newer, days),
            hosts={host: sites[host] for host in hosts if host in sites},
        )

    def _named_hosts(self, search: ShardSearch, keys: Sequence[int]) -> list[str]:
        """The names of hosts."""
        names: dict[int, str] = {}
        for known in self._group.ask(lambda shard: shard.host_names(search, keys)).values() if keys else ():
            names |= known
        return [names[key] for key in keys if key in names]

    def _of_sites(
        self, search: ShardSearch, keys: Mapping[str, int], found: Mapping[int, FacetBuckets]
    ) -> dict[str, int]:
        """The results of hosts and their subdomains."""
        hosts, sites = list(keys), Counter[str]()
        if not hosts:
            return sites
        for shard, counts in self._group.ask(lambda shard: shard.site_counts(search, hosts), found).items():
            for host, count in zip(hosts, counts, strict=True):
                sites[host] += found[shard].hosts.get(keys[host], 0) if count < 0 else count
        return sites


def _sum(parts: Iterable[Mapping[int, int]]) -> Counter[int]:
    total = Counter[int]()
    for part in parts:
        total.update(part)
    return total


def _most_first(counts: Mapping[int, int]) -> list[tuple[int, int]]:
    """The values with the most pages first; of equal ones the smaller number."""
    return sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))


def _named(counts: Mapping[int, int], operator: str) -> Iterator[tuple[str, int]]:
    """Names and counts; names that the operator does not accept are left out."""
    for key, count in _most_first(counts):
        name = name_of_number(key)
        node, _ = read_operator(operator, name) if name else (None, "")
        if node is not None and str(node) == f"{operator}:{name}":
            yield name, count


def _newer(counts: Mapping[int, int], days: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """The number of pages since each day, from the number between two days."""
    totals = accumulate(counts.get(seconds_of(day), 0) for day in reversed(days))
    return tuple(zip(reversed(days), totals, strict=True))
