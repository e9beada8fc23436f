"""What happens between taking a URL from the queue and letting its host rest?"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from periplus.config import Settings
from periplus.crawl.clock import SteadyClock
from periplus.crawl.digest import Digester
from periplus.crawl.politeness import PolitenessClock, Rest
from periplus.crawl.robots import RobotsShelf
from periplus.crawl.tally import Tally
from periplus.fetch.allowance import Purpose
from periplus.fetch.client import Fetcher
from periplus.fetch.robots import Robots
from periplus.frontier.queues import Queues
from periplus.model import Decision, QueuedUrl, Reason, Response, Verdict
from periplus.url import Canonicalizer, split

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
    ) -> None:
        self._settings, self._clock, self._fetcher, self._queues = settings, clock, fetcher, queues
        self._politeness, self._robots, self._digester, self._tally = politeness, robots, digester, tally
        self._redirects = Canonicalizer()

    async def visit(self, item: QueuedUrl) -> None:
        """Make the request that a URL needs next, and let its host rest."""
        url = split(item.url)
        rules = self._robots.find(url.origin, self._clock.now())
        if rules is None:
            await self._ask_robots(item, url.origin)
        elif (refusal := self._refusal(rules, url.path)) is not None:
            self._digester.refuse(item, refusal)
            self._queues.release(item.host, 0.0)
        else:
            await self._fetch(item)

    async def _fetch(self, item: QueuedUrl) -> None:
        started = self._clock.now()
        response = await self._fetcher.fetch(item.url)
        now = self._clock.now()
        self._digester.digest(item, response, now)
        self._rest(self._politeness.after(item.host, response, started, now))

    async def _ask_robots(self, item: QueuedUrl, origin: str) -> None:
        started = self._clock.now()
        response = await self._fetch_robots(item.host, origin)
        now = self._clock.now()
        self._tally.count_robots(response)
        if response.failure in _REFUSED_BY_GUARD:
            assert response.failure is not None
            self._digester.refuse(item, Decision(Verdict.REFUSED, response.failure, response.detail))
            self._queues.release(item.host, 0.0)
            return
        file, rules = self._robots.put(origin, response)
        self._digester.log.batch.robots.append(file)
        self._politeness.obey(item.host, rules.crawl_delay)
        self._queues.put_back(item)
        if _is_unreachable(response):
            why = response.failure.value if response.failure else f"it answers {response.status}"
            self._robots.forget(origin)
            self._rest(
                self._politeness.park(item.host, f"robots.txt cannot be had: {why} {response.detail}".strip(), now)
            )
        else:
            self._rest(self._politeness.after(item.host, response, started, now))

    async def _fetch_robots(self, host: str, origin: str) -> Response:
        url = f"{origin}/robots.txt"
        response = await self._fetcher.fetch(url, purpose=Purpose.ROBOTS)
        for _ in range(_ROBOTS_HOPS):
            location = response.headers.get("location", "") if 300 <= response.status < 400 else ""
            target = self._redirects.join(response.url, location) if location else None
            if target is None:
                return response
            if split(target).host == host:
                await asyncio.sleep(self._politeness.delay(host))
            response = await self._fetcher.fetch(target, purpose=Purpose.ROBOTS)
        # RFC 9309: after five hops the file counts as unavailable, which allows everything.
        return replace(response, status=404, body=b"") if 300 <= response.status < 400 else response

    def _refusal(self, rules: Robots, path: str) -> Decision | None:
        verdict = rules.verdict(path)
        if not verdict.allowed:
            return Decision(Verdict.REFUSED, Reason.ROBOTS, f"robots.txt line {verdict.line_number}: {verdict.line}")
        longest = self._settings.politeness.longest_crawl_delay
        if rules.crawl_delay is not None and rules.crawl_delay > longest:
            detail = f"Crawl-delay {rules.crawl_delay:g} s is over politeness.longest_crawl_delay = {longest:g} s"
            return Decision(Verdict.REFUSED, Reason.CRAWL_DELAY_TOO_LONG, detail)
        return None

    def _rest(self, rest: Rest) -> None:
        self._digester.log.batch.policies[rest.policy.host] = rest.policy
        self._queues.release(rest.policy.host, rest.ready, parked=rest.parked)


def _is_unreachable(response: Response) -> bool:
    return response.failure is not None or response.status == 429 or response.status >= 500
