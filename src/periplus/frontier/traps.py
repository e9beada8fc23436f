"""Which URLs of a host are a waste of requests, as its pages so far have taught?

Every page is counted for the patterns of its URL: one without news adds 1 to their scores, one with news halves them.
From `frontier.trap_fetches` on, and half as many more as there were pages with news, a pattern is a trap: its URLs are
refused, except

* those that differ from all that was fetched in more than the parameter that makes no difference: the article that only
  links with the number of a visit lead to;
* those that a page with news links to, as long as that was worth it now and then: the one event of a calendar;
* a probe after so many refusals, and the next one after twice as many: when one has news the score is halved, and what
  was refused comes back.

Only what pages link to is refused, never what people or sitemaps name. The first refusals of a trap are made when their
turn comes, so that they can come back; later ones at the gate, so that a trap does not use up the cap of its domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from periplus.frontier.patterns import Kind, kinds, without
from periplus.frontier.seen import SeenFilter
from periplus.model import Decision, Pattern, Reason, Verdict
from periplus.url import url_key

_SUSPECT = 0.25  # of the limit: from this score on a pattern is written down
_COMES_BACK = 200  # refusals of a trap that are made when their turn comes
_TRUST = 0.5  # pages without news that each page with news makes up for
_MOST_TRUST = 10  # times the setting
_PATTERNS = 256  # of a host that are remembered
_HOSTS = 20_000  # that are remembered, unless they have traps
_PAGES = 20_000  # that are remembered
_PATIENCE = 5  # times the limit: pages without news that pages with news may lead to, within traps
_REWARD = 2  # times the limit: what a page with news among those is worth


@dataclass(slots=True)
class _Figures:
    """What is known about a pattern."""

    score: float = 0.0
    fetched: int = 0  # since the first page without news
    wasted: int = 0
    saved: int = 0  # refusals
    probe: int = 0  # the number of refusals after which one is let through


def limit_of(fetches: int, fetched: int, wasted: int) -> float:
    """The score from which on a pattern is a trap, by the setting and by what its pages were worth so far."""
    return fetches + min((fetched - wasted) * _TRUST, (_MOST_TRUST - 1) * fetches) if fetches else math.inf


class Traps:
    """What one worker has learned about its hosts."""

    def __init__(self, fetches: int, was_dull: Callable[[str], bool] = lambda _: False) -> None:
        """A pattern is a trap from a score of *fetches* on; 0 learns nothing.

        *was_dull* knows of pages without news that were fetched by others.
        """
        self._limit, self._was_dull = fetches, was_dull
        self._hosts: dict[str, dict[str, _Figures]] = {}
        self._trapping: dict[str, int] = {}  # by host, how many of its patterns are traps
        self._had_news: dict[str, bool] = {}  # by URL, for the newest pages
        self._probes: set[str] = set()  # let through at the gate, to be asked when their turn comes
        self._exceptions: dict[str, bool] = {}  # asked though of a trap; whether because a page with news links to it
        self._patience: dict[str, int] = {}  # by host, if it has been tried
        self._met = SeenFilter()  # URLs that were fetched, without one parameter or another
        self._changed: set[tuple[str, str]] = set()
        self.learned = self.saved = 0  # patterns that began to save requests in this run, and requests that were saved

    def load(self, known: Iterable[Pattern]) -> None:
        """Know what was learned before."""
        for host, pattern, score, fetched, wasted, saved, probe in known:
            self._hosts.setdefault(host, {})[pattern] = _Figures(score, fetched, wasted, saved, probe)
        traps = {host: sum(map(self._is_trap, known.values())) for host, known in self._hosts.items()}
        self._trapping = {host: count for host, count in traps.items() if count}

    def forget(self, hosts: Iterable[str]) -> None:
        """Hosts are another worker's now; what was learned is on disk."""
        for host in hosts:
            self._hosts.pop(host, None)
            self._trapping.pop(host, None)
            self._patience.pop(host, None)

    def holds(self, host: str) -> bool:
        """Whether a host has traps."""
        return host in self._trapping

    def changes(self) -> list[Pattern]:
        """What was learned since the last time, to be written down."""
        changed, self._changed = self._changed, set()
        found = ((host, pattern, self._hosts.get(host, {}).get(pattern)) for host, pattern in changed)
        return [
            Pattern(host, pattern, one.score, one.fetched, one.wasted, one.saved, one.probe)
            for host, pattern, one in found
            if one is not None
        ]

    # -- learning -----------------------------------------------------------------------------------------------

    @property
    def is_learning(self) -> bool:
        """Whether anything is learned at all."""
        return self._limit > 0

    def learn(self, url: str, host: str, *, has_news: bool, is_certain: bool = True) -> list[str]:
        """Count a page that was fetched for the first time; returns the patterns that are no traps any more.

        What is only taken for news says nothing about patterns.
        """
        if not self._limit:
            return []
        self._meet(url)
        self._remember(url, has_news=has_news)
        if url in self._exceptions:  # it says nothing about the others of its pattern
            self._reward(url, host, has_news=has_news)
            return []
        if not is_certain or (has_news and host not in self._hosts):
            return []
        known = self._hosts.setdefault(host, {})
        found = [(way.pattern, known.get(way.pattern)) for way in kinds(url)]
        if host in self._trapping:  # a probe speaks about the trap only, not about what else its URL has
            found = [(pattern, one) for pattern, one in found if self._is_trap(one)] or found
        if has_news:
            return [pattern for pattern, one in found if one is not None and self._count_news(host, pattern, one)]
        for pattern, one in found:
            if (figures := one or self._begin(known, pattern)) is not None:
                self._count_waste(host, pattern, figures)
        return []

    def _meet(self, url: str) -> None:
        """Remember a URL, and what is left of it without each of its parameters."""
        self._met.add(url_key(url))
        for name in {way.name for way in kinds(url)} if "?" in url else ():
            self._met.add(url_key(without(url, (name,))))

    def _reward(self, url: str, host: str, *, has_news: bool) -> None:
        is_favoured = self._exceptions.pop(url)
        if is_favoured and has_news:
            most = _PATIENCE * self._limit
            self._patience[host] = min(self._patience.get(host, most) + _REWARD * self._limit, most)

    def _begin(self, known: dict[str, _Figures], pattern: str) -> _Figures | None:
        """Room for a pattern whose first page without news was met."""
        if len(known) >= _PATTERNS:
            least = min(known, key=lambda name: known[name].score)
            if self._is_trap(known[least]):
                return None
            del known[least]
        known[pattern] = _Figures(probe=self._limit)
        return known[pattern]

    def _count_waste(self, host: str, pattern: str, figures: _Figures) -> None:
        was_trap = self._is_trap(figures)
        figures.fetched += 1
        figures.wasted += 1
        worst = 2 * limit_of(self._limit, figures.fetched, figures.wasted) - 1  # half of it is no trap any more
        figures.score = min(figures.score + 1, worst)
        if figures.score >= self._limit * _SUSPECT:
            self._changed.add((host, pattern))
        if not was_trap and self._is_trap(figures):
            self._trapping[host] = self._trapping.get(host, 0) + 1

    def _count_news(self, host: str, pattern: str, figures: _Figures) -> bool:
        """Count a page with news; whether the pattern is no trap any more."""
        was_trap = self._is_trap(figures)
        if figures.score >= self._limit * _SUSPECT:
            self._changed.add((host, pattern))
        figures.fetched += 1
        figures.score /= 2
        if not was_trap or self._is_trap(figures):
            return False
        self._trapping[host] -= 1
        if not self._trapping[host]:
            del self._trapping[host]
        back = min(figures.saved, _COMES_BACK)
        figures.saved -= back
        figures.probe = figures.saved + self._limit
        self.saved -= back
        return True

    def _remember(self, url: str, *, has_news: bool) -> None:
        self._had_news[url] = has_news
        if len(self._had_news) > _PAGES:
            del self._had_news[next(iter(self._had_news))]
        if len(self._hosts) > _HOSTS:
            self._hosts = {host: known for host, known in self._hosts.items() if host in self._trapping}

    def _is_trap(self, figures: _Figures | None) -> bool:
        return figures is not None and figures.score >= limit_of(self._limit, figures.fetched, figures.wasted)

    # -- refusing -----------------------------------------------------------------------------------------------

    def refusal(self, url: str, host: str, via: str, reason: Reason, *, at_gate: bool = False) -> Decision | None:
        """Why a URL is not worth a request; at the gate, only if it need not be remembered either."""
        if host not in self._trapping or reason is not Reason.LINK or url in self._probes:
            self._probes.discard(url)
            return None
        traps = list(self._traps_of(url, host))
        if not traps or (at_gate and traps[0][1].saved < _COMES_BACK):
            return None
        if self._is_exception(url, host, via, traps, at_gate=at_gate):
            return None
        (pattern, _), figures = traps[0]
        self._changed.add((host, pattern))
        if figures.saved >= figures.probe:
            figures.probe = 2 * figures.saved + 1
            if at_gate:
                self._probes.add(url)
            return None
        self.learned += not figures.saved
        figures.saved += 1
        self.saved += 1
        return _refused(pattern, figures)

    def judgement(self, url: str, host: str) -> Decision | None:
        """What would be said about a URL, without any consequence."""
        found = next(self._traps_of(url, host), None)
        return None if found is None else _refused(found[0].pattern, found[1])

    def _is_exception(
        self, url: str, host: str, via: str, traps: list[tuple[Kind, _Figures]], *, at_gate: bool
    ) -> bool:
        names = {way.name for way, _ in traps}
        rest = url_key(without(url, names))
        is_new = "" not in names and rest not in self._met
        patience = self._patience.get(host, _PATIENCE * self._limit)
        is_favoured = not is_new and patience > 0 and self._leads_on(via)
        if not at_gate and (is_new or is_favoured):
            self._met.add(rest)
            self._patience[host] = patience - is_favoured
            if len(self._exceptions) > _PAGES:  # requests that failed
                self._exceptions.clear()
            self._exceptions[url] = is_favoured
        return is_new or is_favoured

    def _leads_on(self, via: str) -> bool:
        """Whether a page had news; one that was fetched by an earlier run or another worker is looked up."""
        if via not in self._had_news:
            self._remember(via, has_news=not self._was_dull(via))
        return self._had_news[via]

    def _traps_of(self, url: str, host: str) -> Iterator[tuple[Kind, _Figures]]:
        known = self._hosts.get(host, {})
        for way in kinds(url):
            if (figures := known.get(way.pattern)) is not None and self._is_trap(figures):
                yield way, figures


def _refused(pattern: str, figures: _Figures) -> Decision:
    detail = f"{figures.wasted:,} of {figures.fetched:,} pages like {pattern} said nothing new"
    return Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, detail)
