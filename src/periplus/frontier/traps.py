"""Which URL patterns of a host are traps, and when are their URLs refused?

A trap is endless or empty; pages that are merely similar are no trap. A page counts for the patterns of its URL:

* a page without anything new adds 1 to their scores;
* a page of known words in a new order adds 1 only if it links to two or more new URLs of its own pattern, as pages with
  freely combined parameters do;
* a page with something new halves their scores.

A pattern is *suspected* from a score of `frontier.trap_fetches` on, plus one half for each page with something new.
Links of suspected patterns are *deferred*: the crawler fetches the other URLs of the host first. Then it fetches the
deferred URLs while the host's allowance lasts (`frontier.trap_allowance`). A page without anything new costs 1 of the
allowance, a page with something new returns some. After that the URLs are refused, except

* URLs that differ from all fetched ones in more than the suspected parameters, such as an article that is only linked
  with a visit number; these are not deferred either;
* URLs without suspected parameters that a page with something new links to, such as the entries of an index;
* a probe after a number of refusals, and the next one after twice as many.

When a pattern is no longer suspected, the URLs that it refused are queued again. Only links are deferred and refused,
never seeds and sitemap entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from periplus.frontier.patterns import UrlPattern, url_patterns, without_parameters
from periplus.frontier.seen import SeenFilter
from periplus.model import NEVER_SUSPECTED, Decision, Novelty, Pattern, Reason, Verdict
from periplus.url import url_key

_STORED_SHARE = 0.25  # of the limit; patterns with a lower score are not written to disk
_MAX_KEPT = 1_000  # URLs per suspected pattern that are queued from pages without anything new
_TRUST = 0.5  # increase of the limit for each page with something new
_MAX_TRUST = 10  # largest limit, as a multiple of trap_fetches
_GROWTH = 2  # new links to its own pattern that show that the pattern grows faster than it is fetched
_MAX_PATTERNS = 256  # per host, in memory
_MAX_HOSTS = 20_000  # in memory; hosts with suspected patterns are always kept
_MAX_PAGES = 20_000  # in memory


class _Exemption(Enum):
    """Why a URL of a suspected pattern is fetched."""

    OTHER_PAGE = auto()  # it differs in more than the suspected parameters
    INDEXED = auto()  # a page with something new links to it
    ALLOWANCE = auto()


@dataclass(slots=True)
class _PatternStats:
    """Counters of one pattern."""

    score: float = 0.0
    fetched: int = 0  # since the first page without anything new
    wasted: int = 0  # of those, pages without anything new
    saved: int = 0  # refusals
    probe: int = 0  # number of refusals after which one URL is fetched
    repeated: int = 0  # of the wasted, pages with the same text as another page, numbers included
    spent: int = 0  # of the host's allowance
    kept: int = 0  # URLs queued from pages without anything new, while suspected

    def row(self) -> tuple[float, int, int, int, int, int, int]:
        return self.score, self.fetched, self.wasted, self.saved, self.probe, self.repeated, self.spent


def limit_of(fetches: int, fetched: int, wasted: int) -> float:
    """Return the score from which on a pattern is suspected."""
    return fetches + min((fetched - wasted) * _TRUST, (_MAX_TRUST - 1) * fetches) if fetches else math.inf


class Traps:
    """Learns the URL patterns of one worker's hosts that lead to nothing new."""

    def __init__(
        self, fetches: int, allowance: int = 0, had_nothing_new: Callable[[str], bool] = lambda _: False
    ) -> None:
        """Suspect a pattern from a score of *fetches* on (0: never); then fetch *allowance* more pages per host.

        *had_nothing_new* looks up pages without anything new that another run or worker fetched.
        """
        self._limit, self._allowance, self._had_nothing_new = fetches, allowance, had_nothing_new
        self._hosts: dict[str, dict[str, _PatternStats]] = {}
        self._suspect_counts: dict[str, int] = {}  # by host: number of suspected patterns
        self._productive: dict[str, bool] = {}  # by URL, for the newest pages: whether the page had anything new
        self._probes: set[str] = set()  # URLs queued as probes
        self._exemptions: dict[str, _Exemption] = {}  # URLs of suspected patterns that are being fetched
        self._fetched = SeenFilter()  # URLs that were fetched, also without each of their parameters
        self._changed: set[tuple[str, str]] = set()
        self.learned = self.saved = 0  # in this run: patterns that started to refuse, and URLs refused

    def load(self, known: Iterable[Pattern]) -> None:
        """Load the patterns of earlier runs."""
        for host, pattern, score, *counts in known:
            self._hosts.setdefault(host, {})[pattern] = _PatternStats(score, *counts)
        suspects = {host: sum(map(self._is_suspected, known.values())) for host, known in self._hosts.items()}
        self._suspect_counts = {host: count for host, count in suspects.items() if count}

    def forget(self, hosts: Iterable[str]) -> None:
        """Forget hosts that another worker owns now; their patterns are on disk."""
        for host in hosts:
            self._hosts.pop(host, None)
            self._suspect_counts.pop(host, None)

    def unlearn(self, host: str, pattern: str) -> None:
        """Never suspect a pattern again: the user says that it is no trap."""
        stats = self._hosts.setdefault(host, {}).setdefault(pattern, _PatternStats())
        if self._is_suspected(stats):
            self._suspect_counts[host] -= 1
            if not self._suspect_counts[host]:
                del self._suspect_counts[host]
        self.saved -= stats.saved
        stats.score, stats.saved, stats.spent, stats.kept = NEVER_SUSPECTED, 0, 0, 0
        self._changed.add((host, pattern))

    def has_suspects(self, host: str) -> bool:
        """Whether a host has suspected patterns."""
        return host in self._suspect_counts

    def changes(self) -> list[Pattern]:
        """Return the patterns that changed since the last call, to be written to disk."""
        changed, self._changed = self._changed, set()
        found = ((host, pattern, self._hosts.get(host, {}).get(pattern)) for host, pattern in changed)
        return [Pattern(host, pattern, *entry.row()) for host, pattern, entry in found if entry is not None]

    # -- learning -----------------------------------------------------------------------------------------------

    @property
    def is_learning(self) -> bool:
        """Whether patterns are learned at all."""
        return self._limit > 0

    def learn(
        self, url: str, host: str, novelty: Novelty, *, is_repeat: bool = False, is_certain: bool = True
    ) -> list[str]:
        """Count a page that was fetched for the first time; returns the patterns that are no longer suspected.

        *is_repeat*: another page has the same text. Not *is_certain*: the page was not compared with others, and
        counts for no pattern.
        """
        if not self._limit:
            return []
        self._mark_fetched(url)
        self._remember(url, is_productive=novelty is not Novelty.NONE)
        exemption = self._exemptions.pop(url, None)
        is_first_new = novelty is Novelty.NEW and host not in self._hosts
        if not is_certain or exemption is _Exemption.OTHER_PAGE or is_first_new:
            return []
        found = self._patterns_of(url, host)
        if novelty is Novelty.NEW:
            return [p for p, entry in found if entry is not None and self._count_new(host, p, entry, exemption)]
        if novelty is Novelty.NONE and exemption is not _Exemption.INDEXED:
            self._count_waste(host, found, exemption, is_repeat=is_repeat)
        elif exemption is not None:
            self._exemptions[url] = exemption  # `count_growth` may follow
        return []

    def count_growth(self, url: str, host: str, links: Iterable[str], refused: int) -> None:
        """Count a page of known words in a new order, by the new URLs it links to.

        *links* were queued, *refused* others were not because of their patterns.
        """
        exemption = self._exemptions.pop(url, None)
        if not self._limit or exemption in (_Exemption.OTHER_PAGE, _Exemption.INDEXED):
            return
        own_patterns = {kind.pattern for kind in url_patterns(url)}
        grown = refused + sum(any(kind.pattern in own_patterns for kind in url_patterns(link)) for link in links)
        if grown < _GROWTH:
            return
        self._productive[url] = False
        self._count_waste(host, self._patterns_of(url, host), exemption)

    def _mark_fetched(self, url: str) -> None:
        """Remember a URL, also without each of its parameters."""
        self._fetched.add(url_key(url))
        for name in {kind.name for kind in url_patterns(url)} if "?" in url else ():
            self._fetched.add(url_key(without_parameters(url, (name,))))

    def _begin(self, known: dict[str, _PatternStats], pattern: str) -> _PatternStats | None:
        """Start counting a pattern, in place of the one with the lowest score when there are too many."""
        if len(known) >= _MAX_PATTERNS:
            least = min(known, key=lambda name: known[name].score)
            if self._is_suspected(known[least]):
                return None
            del known[least]
        known[pattern] = _PatternStats(probe=self._limit)
        return known[pattern]

    def _patterns_of(self, url: str, host: str) -> list[tuple[str, _PatternStats | None]]:
        """Return the patterns that a page counts for: only the suspected ones, if there are any."""
        known = self._hosts.setdefault(host, {})
        found = [(kind.pattern, known.get(kind.pattern)) for kind in url_patterns(url)]
        if host in self._suspect_counts:
            return [(pattern, entry) for pattern, entry in found if self._is_suspected(entry)] or found
        return found

    def _count_waste(
        self,
        host: str,
        found: list[tuple[str, _PatternStats | None]],
        exemption: _Exemption | None,
        *,
        is_repeat: bool = False,
    ) -> None:
        is_charged = exemption is _Exemption.ALLOWANCE
        for pattern, entry in found:
            if (stats := entry or self._begin(self._hosts[host], pattern)) is not None:
                stats.repeated += is_repeat
                stats.spent += is_charged
                self._raise_score(host, pattern, stats)
                is_charged = False  # a page is charged once, even if its URL has several patterns

    def _raise_score(self, host: str, pattern: str, stats: _PatternStats) -> None:
        was_suspected = self._is_suspected(stats)
        stats.fetched += 1
        stats.wasted += 1
        # Below twice the limit, so that one page with something new clears the pattern.
        most = 2 * limit_of(self._limit, stats.fetched, stats.wasted) - 1
        stats.score = min(stats.score + 1, most)
        if abs(stats.score) >= self._limit * _STORED_SHARE:
            self._changed.add((host, pattern))
        if not was_suspected and self._is_suspected(stats):
            self._suspect_counts[host] = self._suspect_counts.get(host, 0) + 1

    def _count_new(self, host: str, pattern: str, stats: _PatternStats, exemption: _Exemption | None) -> bool:
        """Count a page with something new; returns whether its pattern is no longer suspected."""
        was_suspected = self._is_suspected(stats)
        if abs(stats.score) >= self._limit * _STORED_SHARE:
            self._changed.add((host, pattern))
        stats.fetched += 1
        if exemption is _Exemption.INDEXED:  # an index links to the best pages, which say little about the others
            stats.score -= 1
        else:
            stats.score /= 2
            stats.spent = max(stats.spent - self._limit, 0)
        if not was_suspected or self._is_suspected(stats):
            return False
        self._suspect_counts[host] -= 1
        if not self._suspect_counts[host]:
            del self._suspect_counts[host]
        self.saved -= stats.saved
        stats.saved = stats.kept = 0
        stats.probe = self._limit
        return True

    def _remember(self, url: str, *, is_productive: bool) -> None:
        self._productive[url] = is_productive
        if len(self._productive) > _MAX_PAGES:
            del self._productive[next(iter(self._productive))]
        if len(self._hosts) > _MAX_HOSTS:
            self._hosts = {host: known for host, known in self._hosts.items() if host in self._suspect_counts}

    def _is_suspected(self, stats: _PatternStats | None) -> bool:
        return stats is not None and stats.score >= limit_of(self._limit, stats.fetched, stats.wasted)

    # -- deciding -----------------------------------------------------------------------------------------------

    def refuse_link(self, url: str, host: str, via: str, reason: Reason) -> Decision | None:
        """Refuse a newly found URL without queueing it, when enough URLs of its pattern are queued."""
        if host not in self._suspect_counts or reason is not Reason.LINK:
            return None
        suspected = list(self._suspected_patterns(url, host))
        if not suspected or self._is_other_page(url, suspected) or self._is_indexed(via, suspected):
            return None
        kind, stats = suspected[0]
        if stats.kept < _MAX_KEPT:
            stats.kept += 1
            return None
        refusal = self._refuse(host, kind, stats)
        if refusal is None:
            self._probes.add(url)
        return refusal

    def decide(self, url: str, host: str, via: str, reason: Reason, *, is_deferred: bool) -> Decision | None:
        """Decide about a queued URL that is next: defer it, refuse it, or fetch it (None).

        A URL that *is_deferred* is next only when nothing else of its host is queued.
        """
        if host not in self._suspect_counts or reason is not Reason.LINK or url in self._probes:
            self._probes.discard(url)
            return None
        suspected = list(self._suspected_patterns(url, host))
        if not suspected:
            return None
        if self._is_other_page(url, suspected):
            self._fetched.add(self._reduced_key(url, suspected))
            self._exempt(url, _Exemption.OTHER_PAGE)
        elif not is_deferred:
            return Decision(Verdict.DELAYED, Reason.TRAP_SUSPECTED, _detail(*suspected[0]))
        elif self._is_indexed(via, suspected):
            self._exempt(url, _Exemption.INDEXED)
        elif self._has_allowance(host):
            self._exempt(url, _Exemption.ALLOWANCE)
        else:
            return self._refuse(host, *suspected[0])
        return None

    def verdict(self, url: str, host: str) -> Decision | None:
        """Return the decision about a link for `inspect`, without counting it."""
        found = next(self._suspected_patterns(url, host), None)
        if found is None:
            return None
        if self._has_allowance(host):
            return Decision(Verdict.DELAYED, Reason.TRAP_SUSPECTED, _detail(*found))
        return Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, _detail(*found))

    def _refuse(self, host: str, kind: UrlPattern, stats: _PatternStats) -> Decision | None:
        """Refuse a URL of a suspected pattern; None when it is the next probe."""
        self._changed.add((host, kind.pattern))
        if stats.saved >= stats.probe:
            stats.probe = 2 * stats.saved + 1
            return None
        self.learned += not stats.saved
        stats.saved += 1
        self.saved += 1
        return Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, _detail(kind, stats))

    def _exempt(self, url: str, reason: _Exemption) -> None:
        if len(self._exemptions) > _MAX_PAGES:  # entries of failed requests
            self._exemptions.clear()
        self._exemptions[url] = reason

    def _has_allowance(self, host: str) -> bool:
        return sum(entry.spent for entry in self._hosts[host].values()) < self._allowance

    def _is_other_page(self, url: str, suspected: list[tuple[UrlPattern, _PatternStats]]) -> bool:
        """Whether a URL differs from all fetched ones in more than the suspected parameters."""
        return all(kind.name for kind, _ in suspected) and self._reduced_key(url, suspected) not in self._fetched

    def _reduced_key(self, url: str, suspected: list[tuple[UrlPattern, _PatternStats]]) -> int:
        return url_key(without_parameters(url, {kind.name for kind, _ in suspected}))

    def _is_indexed(self, via: str, suspected: list[tuple[UrlPattern, _PatternStats]]) -> bool:
        """Whether a page with something new links to a URL whose pattern has pages that differ from each other."""
        if any(kind.name or 2 * stats.repeated > stats.wasted for kind, stats in suspected):
            return False
        if via not in self._productive:
            self._remember(via, is_productive=not self._had_nothing_new(via))
        return self._productive[via]

    def _suspected_patterns(self, url: str, host: str) -> Iterator[tuple[UrlPattern, _PatternStats]]:
        known = self._hosts.get(host, {})
        for kind in url_patterns(url):
            if (stats := known.get(kind.pattern)) is not None and self._is_suspected(stats):
                yield kind, stats


def _detail(kind: UrlPattern, stats: _PatternStats) -> str:
    # `bring_back` in store/catalog/catalog.sql finds the refused URLs of a pattern by these words.
    return f"{stats.wasted:,} of {stats.fetched:,} pages like {kind.pattern} said nothing new"
