"""What happens between taking a URL from the queue and letting its host rest?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from periplus.config import Settings
from periplus.crawl.clock import SteadyClock
from periplus.crawl.digest import Digester
from periplus.crawl.politeness import PolitenessClock, Rest
from periplus.crawl.robots import RobotsShelf, is_unreachable
from periplus.crawl.tally import Tally
from periplus.fetch.allowance import Purpose
from periplus.fetch.client import Fetcher
from periplus.fetch.robots import Robots
from periplus.frontier.queues import Queues
from periplus.model import Decision, HostPolicy, QueuedUrl, Reason, Response, Verdict
from periplus.url import Canonicalizer, host_of, split

_REFUSED_BY_GUARD = frozenset({Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})
_ROBOTS_HOPS = 5


class Visitor:
    """Makes one request at a time to a host: its robots.txt first, then its pages."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: SteadyClock,
        fetcher: Fetcher,
        queues: Queues,
        politeness: PolitenessClock,
        robots: RobotsShelf,
        digester: Digester,
        tally: Tally,
        policy_of: Callable[[str], HostPolicy | None],
    ) -> None:
        self._settings, self._clock, self._fetcher, self._queues = settings, clock, fetcher, queues
        self._politeness, self._robots, self._digester, self._tally = politeness, robots, digester, tally
        self._policy_of = policy_of
        self._redirects = Canonicalizer()

    async def visit(self, item: QueuedUrl) -> None:
        """Make the request that a URL needs next, and let its host rest."""
        self._tally.timing.begin(self._clock.now())
        try:
            await self._visit(item)
        finally:
            self._tally.timing.end(self._clock.now())

    async def _visit(self, item: QueuedUrl) -> None:
        if (refusal := self._digester.second_thoughts(item)) is not None:
            self._digester.refuse(item, refusal)
            self._queues.release(item.host, 0.0)
            return
        url = split(item.url)
        rules = self._robots.find(url.origin, self._clock.now())
        if (rest := self._carried_over(item.host)) is not None:
            self._queues.put_back(item)
            self._queues.release(item.host, rest.ready, parked=rest.parked)
        elif rules is None:
            await self._ask_robots(item, url.origin)
        elif (refusal := self._refusal(rules, url.path)) is not None:
            self._digester.refuse(item, refusal)
            self._queues.release(item.host, 0.0)
        else:
            self._politeness.obey(item.host, rules.crawl_delay)
            await self._fetch(item)

    def _carried_over(self, host: str) -> Rest | None:
        """A host first met in this run may have been asked by the run before: it is not asked again too soon."""
        if self._politeness.knows(host):
            return None
        now = self._clock.now()
        rest = self._politeness.recall(self._policy_of(host) or HostPolicy(host, None), now)
        return rest if rest.ready > now else None

    async def _fetch(self, item: QueuedUrl) -> None:
        response = await self._request(item.url, Purpose.PAGE)
        now = self._clock.now()
        self._digester.digest(item, response, now)
        self._rest(self._politeness.after(item.host, response, now))

    async def _request(self, url: str, purpose: Purpose) -> Response:
        host = host_of(url)
        while wait := self._politeness.claim(host, self._clock.now()):  # noqa: ASYNC110  # no event, a known moment
            await asyncio.sleep(wait)
        response = await self._fetcher.fetch(url, purpose=purpose)
        self._tally.timing.delay = self._politeness.rested
        self._tally.timing.count(response, robots=purpose is Purpose.ROBOTS)
        if response.failure in _REFUSED_BY_GUARD:
            self._politeness.waive(host)
        return response

    async def _ask_robots(self, item: QueuedUrl, origin: str) -> None:
        response = await self._fetch_robots(origin)
        now = self._clock.now()
        self._tally.count_robots(response)
        if response.failure in _REFUSED_BY_GUARD:
            assert response.failure is not None
            self._digester.refuse(item, Decision(Verdict.REFUSED, response.failure, response.detail))
            self._queues.release(item.host, 0.0)
            return
        file, rules = self._robots.put(origin, response)
        self._digester.log.batch.robots.append(file)
        self._politeness.obey(item.host, None if self._is_too_slow(rules) else rules.crawl_delay)
        self._queues.put_back(item)
        self._digester.sitemaps(rules.sitemaps, via=f"{origin}/robots.txt")
        if is_unreachable(file.status):
            why = f"{response.failure.value} {response.detail}" if response.failure else f"it answers {response.status}"
            self._robots.forget(origin)
            self._rest(self._politeness.park(item.host, f"robots.txt cannot be had: {why}", response, now))
        else:
            self._rest(self._politeness.after(item.host, response, now))

    async def _fetch_robots(self, origin: str) -> Response:
        response = await self._request(f"{origin}/robots.txt", Purpose.ROBOTS)
        for _ in range(_ROBOTS_HOPS):
            location = response.headers.get("location", "") if 300 <= response.status < 400 else ""
            target = self._redirects.join(response.url, location) if location else None
            if target is None:
                return response
            response = await self._request(target, Purpose.ROBOTS)
        # RFC 9309: after five hops the file counts as unavailable, which allows everything.
        return replace(response, status=404, body=b"") if 300 <= response.status < 400 else response

    def _refusal(self, rules: Robots, path: str) -> Decision | None:
        verdict = rules.verdict(path)
        if not verdict.allowed:
            return Decision(Verdict.REFUSED, Reason.ROBOTS, f"robots.txt line {verdict.line_number}: {verdict.line}")
        if self._is_too_slow(rules):
            longest = self._settings.politeness.longest_crawl_delay
            detail = f"Crawl-delay {rules.crawl_delay:g} s is over politeness.longest_crawl_delay = {longest:g} s"
            return Decision(Verdict.REFUSED, Reason.CRAWL_DELAY_TOO_LONG, detail)
        return None

    def _is_too_slow(self, rules: Robots) -> bool:
        return (rules.crawl_delay or 0.0) > self._settings.politeness.longest_crawl_delay

    def _rest(self, rest: Rest) -> None:
        self._digester.log.batch.policies[rest.policy.host] = rest.policy
        self._queues.release(rest.policy.host, rest.ready, parked=rest.parked)
