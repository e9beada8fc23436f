"""Which URL patterns of a host lead to nothing new, and when are their URLs refused?

A trap is endless or empty; pages that are merely alike are no trap. A page counts for the patterns of its URL:

* a page without anything new adds 1 to their scores;
* a page of known words in a new order does so only if it links to two or more new URLs of its own pattern:
  parameters that are combined without end;
* a page with something new halves their scores.

A pattern is *suspected* from a score of `frontier.trap_fetches` on, and half as many more as it had pages with
something new. Links of suspected patterns are *deferred*: the crawler fetches the other URLs of the host first. Then it
fetches the deferred ones while the host's allowance lasts (`frontier.trap_allowance`). A page without anything new
costs one of it, a page with something new gives some back. When nothing is left, the URLs are refused, except

* URLs that differ from all fetched ones in more than the suspected parameters: the article that only links with the
  number of a visit lead to; these are not even deferred;
* URLs without suspected parameters that a page with something new links to: the entries of an index;
* a probe after so many refusals, and the next one after twice as many.

When a pattern is no longer suspected, the URLs that it refused are queued again. Only links are deferred and refused,
never seeds and what sitemaps list.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum, auto

from periplus.frontier.patterns import UrlPattern, url_patterns, without_parameters
from periplus.frontier.seen import SeenFilter
from periplus.model import Decision, Novelty, Pattern, Reason, Verdict
from periplus.url import url_key

_WRITTEN_DOWN = 0.25  # share of the limit from which on a pattern is written to disk
_KEPT = 1_000  # URLs of a suspected pattern that are queued from pages without anything new; more are not remembered
_TRUST = 0.5  # pages without anything new that each page with something new makes up for
_MOST_TRUST = 10  # times trap_fetches
_GROWTH = 2  # new URLs of its own pattern that a page links to when the pattern grows faster than it is fetched
_PATTERNS = 256  # remembered per host
_HOSTS = 20_000  # remembered, unless they have suspected patterns
_PAGES = 20_000  # remembered


class _Pass(Enum):
    """Why a URL of a suspected pattern is fetched."""

    OTHER_PAGE = auto()  # it differs in more than the suspected parameters
    INDEXED = auto()  # a page with something new links to it
    ALLOWANCE = auto()


@dataclass(slots=True)
class _Figures:
    """What is known about a pattern."""

    score: float = 0.0
    fetched: int = 0  # since the first page without anything new
    wasted: int = 0  # of those, pages without anything new
    saved: int = 0  # refusals
    probe: int = 0  # the number of refusals after which one URL is fetched
    repeated: int = 0  # of the wasted, pages with the same text as another page, numbers included
    spent: int = 0  # of the host's allowance
    kept: int = 0  # URLs queued from pages without anything new, while suspected

    def in_row(self) -> tuple[float, int, int, int, int, int, int]:
        return self.score, self.fetched, self.wasted, self.saved, self.probe, self.repeated, self.spent


def limit_of(fetches: int, fetched: int, wasted: int) -> float:
    """The score from which on a pattern is suspected."""
    return fetches + min((fetched - wasted) * _TRUST, (_MOST_TRUST - 1) * fetches) if fetches else math.inf


class Traps:
    """What one worker has learned about the URL patterns of its hosts."""

    def __init__(self, fetches: int, allowance: int = 0, was_dull: Callable[[str], bool] = lambda _: False) -> None:
        """Suspect a pattern from a score of *fetches* on (0: never); then fetch *allowance* more pages per host.

        *was_dull* looks up pages without anything new that another run or worker fetched.
        """
        self._limit, self._allowance, self._was_dull = fetches, allowance, was_dull
        self._hosts: dict[str, dict[str, _Figures]] = {}
        self._suspects: dict[str, int] = {}  # by host: how many of its patterns are suspected
        self._leads_on: dict[str, bool] = {}  # by URL, for the newest pages: whether the page had anything new
        self._probes: set[str] = set()  # queued as probes, to be fetched when their turn comes
        self._passed: dict[str, _Pass] = {}  # URLs of suspected patterns that are being fetched
        self._met = SeenFilter()  # URLs that were fetched, without one parameter or another
        self._changed: set[tuple[str, str]] = set()
        self.learned = self.saved = 0  # patterns that began to refuse in this run, and requests saved

    def load(self, known: Iterable[Pattern]) -> None:
        """Know what was learned before."""
        for host, pattern, score, *counts in known:
            self._hosts.setdefault(host, {})[pattern] = _Figures(score, *counts)
        suspects = {host: sum(map(self._is_suspected, known.values())) for host, known in self._hosts.items()}
        self._suspects = {host: count for host, count in suspects.items() if count}

    def forget(self, hosts: Iterable[str]) -> None:
        """Forget hosts that another worker owns now; what was learned is on disk."""
        for host in hosts:
            self._hosts.pop(host, None)
            self._suspects.pop(host, None)

    def holds(self, host: str) -> bool:
        """Whether a host has suspected patterns."""
        return host in self._suspects

    def changes(self) -> list[Pattern]:
        """What was learned since the last call, to be written to disk."""
        changed, self._changed = self._changed, set()
        found = ((host, pattern, self._hosts.get(host, {}).get(pattern)) for host, pattern in changed)
        return [Pattern(host, pattern, *one.in_row()) for host, pattern, one in found if one is not None]

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
        self._meet(url)
        self._remember(url, leads_on=novelty is not Novelty.NONE)
        passed = self._passed.pop(url, None)
        if not is_certain or passed is _Pass.OTHER_PAGE or (novelty is Novelty.NEW and host not in self._hosts):
            return []
        found = self._patterns_of(url, host)
        if novelty is Novelty.NEW:
            return [p for p, one in found if one is not None and self._count_new(host, p, one, passed)]
        if novelty is Novelty.NONE and passed is not _Pass.INDEXED:
            self._count_waste(host, found, passed, is_repeat=is_repeat)
        elif passed is not None:
            self._passed[url] = passed  # `grew` may follow
        return []

    def grew(self, url: str, host: str, links: Iterable[str], refused: int) -> None:
        """Count a page of known words in a new order, by the new URLs it links to.

        *links* were queued, *refused* others were not because of their patterns.
        """
        passed = self._passed.pop(url, None)
        if not self._limit or passed in (_Pass.OTHER_PAGE, _Pass.INDEXED):
            return
        own = {kind.pattern for kind in url_patterns(url)}
        grown = refused + sum(any(kind.pattern in own for kind in url_patterns(link)) for link in links)
        if grown < _GROWTH:
            return
        self._leads_on[url] = False
        self._count_waste(host, self._patterns_of(url, host), passed)

    def _meet(self, url: str) -> None:
        """Remember a URL, and what is left of it without each of its parameters."""
        self._met.add(url_key(url))
        for name in {kind.name for kind in url_patterns(url)} if "?" in url else ():
            self._met.add(url_key(without_parameters(url, (name,))))

    def _begin(self, known: dict[str, _Figures], pattern: str) -> _Figures | None:
        """Make room for a pattern whose first page without anything new was met."""
        if len(known) >= _PATTERNS:
            least = min(known, key=lambda name: known[name].score)
            if self._is_suspected(known[least]):
                return None
            del known[least]
        known[pattern] = _Figures(probe=self._limit)
        return known[pattern]

    def _patterns_of(self, url: str, host: str) -> list[tuple[str, _Figures | None]]:
        """The patterns that a page counts for: of its suspected patterns only, if it has any."""
        known = self._hosts.setdefault(host, {})
        found = [(kind.pattern, known.get(kind.pattern)) for kind in url_patterns(url)]
        if host in self._suspects:
            return [(pattern, one) for pattern, one in found if self._is_suspected(one)] or found
        return found

    def _count_waste(
        self, host: str, found: list[tuple[str, _Figures | None]], passed: _Pass | None, *, is_repeat: bool = False
    ) -> None:
        is_charged = passed is _Pass.ALLOWANCE
        for pattern, one in found:
            if (figures := one or self._begin(self._hosts[host], pattern)) is not None:
                figures.repeated += is_repeat
                figures.spent += is_charged
                self._raise_score(host, pattern, figures)
                is_charged = False  # one page costs one, however many patterns its URL has

    def _raise_score(self, host: str, pattern: str, figures: _Figures) -> None:
        was_suspected = self._is_suspected(figures)
        figures.fetched += 1
        figures.wasted += 1
        most = 2 * limit_of(self._limit, figures.fetched, figures.wasted) - 1  # one page with something new clears it
        figures.score = min(figures.score + 1, most)
        if abs(figures.score) >= self._limit * _WRITTEN_DOWN:
            self._changed.add((host, pattern))
        if not was_suspected and self._is_suspected(figures):
            self._suspects[host] = self._suspects.get(host, 0) + 1

    def _count_new(self, host: str, pattern: str, figures: _Figures, passed: _Pass | None) -> bool:
        """Count a page with something new; returns whether its pattern is no longer suspected."""
        was_suspected = self._is_suspected(figures)
        if abs(figures.score) >= self._limit * _WRITTEN_DOWN:
            self._changed.add((host, pattern))
        figures.fetched += 1
        if passed is _Pass.INDEXED:  # an index leads to the best pages of a trap: they say less about the others
            figures.score -= 1
        else:
            figures.score /= 2
            figures.spent = max(figures.spent - self._limit, 0)
        if not was_suspected or self._is_suspected(figures):
            return False
        self._suspects[host] -= 1
        if not self._suspects[host]:
            del self._suspects[host]
        self.saved -= figures.saved
        figures.saved = figures.kept = 0
        figures.probe = self._limit
        return True

    def _remember(self, url: str, *, leads_on: bool) -> None:
        self._leads_on[url] = leads_on
        if len(self._leads_on) > _PAGES:
            del self._leads_on[next(iter(self._leads_on))]
        if len(self._hosts) > _HOSTS:
            self._hosts = {host: known for host, known in self._hosts.items() if host in self._suspects}

    def _is_suspected(self, figures: _Figures | None) -> bool:
        return figures is not None and figures.score >= limit_of(self._limit, figures.fetched, figures.wasted)

    # -- deciding -----------------------------------------------------------------------------------------------

    def refuse_link(self, url: str, host: str, via: str, reason: Reason) -> Decision | None:
        """Refuse a URL just found that is not even remembered: enough URLs of its pattern wait."""
        if host not in self._suspects or reason is not Reason.LINK:
            return None
        suspected = list(self._suspected_patterns(url, host))
        if not suspected or self._is_other_page(url, suspected) or self._is_indexed(via, suspected):
            return None
        kind, figures = suspected[0]
        if figures.kept < _KEPT:
            figures.kept += 1
            return None
        refusal = self._refuse(host, kind, figures)
        if refusal is None:
            self._probes.add(url)
        return refusal

    def decide(self, url: str, host: str, via: str, reason: Reason, *, is_deferred: bool) -> Decision | None:
        """Decide about a queued URL whose turn has come: defer it, refuse it, or (None) fetch it.

        A URL that *is_deferred* has its turn when nothing else of its host waits.
        """
        if host not in self._suspects or reason is not Reason.LINK or url in self._probes:
            self._probes.discard(url)
            return None
        suspected = list(self._suspected_patterns(url, host))
        if not suspected:
            return None
        if self._is_other_page(url, suspected):
            self._met.add(self._rest_of(url, suspected))
            self._let_pass(url, _Pass.OTHER_PAGE)
        elif not is_deferred:
            return Decision(Verdict.DELAYED, Reason.TRAP_SUSPECTED, _evidence(*suspected[0]))
        elif self._is_indexed(via, suspected):
            self._let_pass(url, _Pass.INDEXED)
        elif self._has_allowance(host):
            self._let_pass(url, _Pass.ALLOWANCE)
        else:
            return self._refuse(host, *suspected[0])
        return None

    def verdict(self, url: str, host: str) -> Decision | None:
        """What would be decided about a link, for `inspect`: nothing is counted."""
        found = next(self._suspected_patterns(url, host), None)
        if found is None:
            return None
        if self._has_allowance(host):
            return Decision(Verdict.DELAYED, Reason.TRAP_SUSPECTED, _evidence(*found))
        return Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, _evidence(*found))

    def _refuse(self, host: str, kind: UrlPattern, figures: _Figures) -> Decision | None:
        """Refuse a URL of a suspected pattern; None when it is the next probe."""
        self._changed.add((host, kind.pattern))
        if figures.saved >= figures.probe:
            figures.probe = 2 * figures.saved + 1
            return None
        self.learned += not figures.saved
        figures.saved += 1
        self.saved += 1
        return Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, _evidence(kind, figures))

    def _let_pass(self, url: str, why: _Pass) -> None:
        if len(self._passed) > _PAGES:  # requests that failed
            self._passed.clear()
        self._passed[url] = why

    def _has_allowance(self, host: str) -> bool:
        return sum(one.spent for one in self._hosts[host].values()) < self._allowance

    def _is_other_page(self, url: str, suspected: list[tuple[UrlPattern, _Figures]]) -> bool:
        """Whether a URL differs from all fetched ones in more than the suspected parameters."""
        return all(kind.name for kind, _ in suspected) and self._rest_of(url, suspected) not in self._met

    def _rest_of(self, url: str, suspected: list[tuple[UrlPattern, _Figures]]) -> int:
        return url_key(without_parameters(url, {kind.name for kind, _ in suspected}))

    def _is_indexed(self, via: str, suspected: list[tuple[UrlPattern, _Figures]]) -> bool:
        """Whether a page with something new links to a URL whose pattern has pages that differ from each other."""
        if any(kind.name or 2 * figures.repeated > figures.wasted for kind, figures in suspected):
            return False
        if via not in self._leads_on:
            self._remember(via, leads_on=not self._was_dull(via))
        return self._leads_on[via]

    def _suspected_patterns(self, url: str, host: str) -> Iterator[tuple[UrlPattern, _Figures]]:
        known = self._hosts.get(host, {})
        for kind in url_patterns(url):
            if (figures := known.get(kind.pattern)) is not None and self._is_suspected(figures):
                yield kind, figures


def _evidence(kind: UrlPattern, figures: _Figures) -> str:
    return f"{figures.wasted:,} of {figures.fetched:,} pages like {kind.pattern} said nothing new"
