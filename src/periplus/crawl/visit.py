"""What happens between taking a URL from the queue and letting its host rest?"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from periplus.config import Settings
from periplus.crawl.clock import Clock, wall_time
from periplus.crawl.link_intake import LinkIntake
from periplus.crawl.outcome import OutcomeRecorder
from periplus.crawl.ownership import Leases
from periplus.crawl.page_errors import STOPS_THE_CRAWL
from periplus.crawl.politeness import HostPause, PolitenessClock
from periplus.crawl.robots import RobotsBusy, RobotsCache, is_unreachable
from periplus.fetch.client import Fetcher
from periplus.fetch.connections import AddressBusy
from periplus.fetch.memory_budget import LARGE
from periplus.fetch.resolver import LookupPending
from periplus.fetch.response_limits import Purpose
from periplus.fetch.robots import Robots
from periplus.frontier.queues import Queues
from periplus.model import Decision, Fetch, HostPolicy, QueuedUrl, Reason, Response, RobotsFile, Verdict
from periplus.store.batch import PendingBatch
from periplus.store.run_summary import RunCounters
from periplus.url import Canonicalizer, host_of, split

_REFUSED_BY_GUARD = frozenset({Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})
_ROBOTS_HOPS = 5


@dataclass(frozen=True, slots=True)
class _Trail:
    """The search for a robots.txt that has moved."""

    url: str  # where it is said to be
    hops: int = 0


class Visitor:
    """Makes one request at a time to a host: its robots.txt first, then its pages."""

    def __init__(
        self,
        settings: Settings,
        *,
        clock: Clock,
        fetcher: Fetcher,
        queues: Queues,
        politeness: PolitenessClock,
        robots: RobotsCache,
        digester: OutcomeRecorder,
        paths: LinkIntake,
        log: PendingBatch,
        tally: RunCounters,
        loans: Leases,
        policy_of: Callable[[str], HostPolicy | None],
        version_of: Callable[[str], Fetch | None],
    ) -> None:
        self._settings, self._clock, self._fetcher, self._queues = settings, clock, fetcher, queues
        self._politeness, self._robots, self._tally, self._loans = politeness, robots, tally, loans
        self._digester, self._paths, self._log = digester, paths, log
        self._policy_of, self._version_of = policy_of, version_of
        self._redirects = Canonicalizer()
        # Held while a large page is read; they are rare, and keep everybody else from going on for a tenth of a second.
        self._one_large = asyncio.Lock()
        self._trails: dict[str, _Trail] = {}  # by origin, while its robots.txt is being looked for

    async def visit(self, item: QueuedUrl) -> None:
        """Make the request that a URL needs next, and let its host rest."""
        self._tally.timing.begin(self._clock.now())
        try:
            await self._visit(item)
        except asyncio.CancelledError:
            # The server may have had the request: the next run must not ask it again too soon.
            policy = self._politeness.dropped(item.host, self._clock.now())
            self._log.batch.policies[policy.host] = policy
            raise
        finally:
            self._fetcher.release_body(item.host)
            self._tally.timing.end(self._clock.now())

    async def _visit(self, item: QueuedUrl) -> None:
        try:
            step = await self._next_step(item)
        except RobotsBusy as busy:
            self._queues.postpone(item, self._clock.now() + busy.seconds)
            return
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            self._digester.give_up(item, error, wall_time(self._clock))
            self._queues.release(item.host, 0.0)
            return
        if isinstance(step, Decision):
            self._settle_without_request(item, step)
        elif isinstance(step, HostPause):
            self._queues.put_back(item)
            self._queues.release(item.host, step.ready, parked=step.parked)
        elif step is None:
            await self._ask_robots(item, split(item.url).origin)
        else:
            self._politeness.obey(item.host, step.crawl_delay)
            await self._fetch(item)

    def _settle_without_request(self, item: QueuedUrl, decision: Decision) -> None:
        if decision.verdict is Verdict.DELAYED:
            self._queues.put_back(self._digester.defer(item, decision))
        else:
            self._digester.refuse(item, decision, wall_time(self._clock))
        self._queues.release(item.host, 0.0)

    async def _next_step(self, item: QueuedUrl) -> Decision | HostPause | Robots | None:
        """What a URL needs next: a refusal, a rest of its host, its robots.txt (None), or a request by these rules."""
        if (decision := self._paths.recheck(item)) is not None:
            return decision
        url = split(item.url)
        rules = await self._robots.find(url.origin, wall_time(self._clock))
        if (rest := self._carried_over(item.host)) is not None:
            return rest
        return rules and (self._refusal(rules, url.path) or rules)

    def _carried_over(self, host: str) -> HostPause | None:
        """A host first met in this run may have been asked by the run before: it is not asked again too soon."""
        if self._politeness.knows(host):
            return None
        now = self._clock.now()
        rest = self._politeness.recall(self._policy_of(host) or HostPolicy(host, None), now)
        return rest if rest.ready > now else None

    async def _fetch(self, item: QueuedUrl) -> None:
        purpose = Purpose.SITEMAP if item.reason is Reason.SITEMAP else Purpose.PAGE
        earlier = self._version_of(item.url) if item.visits else None
        # What a sitemap says about its pages is wanted even if it says the same as before.
        response = await self._request(item.url, purpose, earlier if purpose is Purpose.PAGE else None)
        if isinstance(response, float):
            self._queues.postpone(item, response)
            return
        now = self._clock.now()
        ahead = await self._digester.read_ahead(item, response)
        if len(response.body) < LARGE:
            self._digester.digest(item, response, now, earlier, ahead)
        else:
            async with self._one_large:
                began = time.perf_counter()
                self._digester.digest(item, response, now, earlier, ahead)
                await asyncio.sleep(time.perf_counter() - began)  # others have their turn before the next one
        self._rest(self._politeness.after(item.host, response, now))

    async def _request(self, url: str, purpose: Purpose, earlier: Fetch | None = None) -> Response | float:
        """The answer; or, when it is too early to ask, the time from which on it is not.

        What is as it was in *earlier* need not be sent again.
        """
        etag, last_modified = (earlier.etag, earlier.last_modified) if earlier else ("", "")
        host, now = host_of(url), self._clock.now()
        if lent := self._loans.lent(host, now):
            return lent
        if wait := self._politeness.claim(host, now):
            return now + wait
        try:
            response = await self._fetcher.fetch(url, purpose=purpose, etag=etag, last_modified=last_modified)
        except (AddressBusy, LookupPending) as busy:
            self._politeness.waive(host)
            return self._clock.now() + busy.seconds
        self._tally.timing.delay = self._politeness.rested
        self._tally.timing.count(response, robots=purpose is Purpose.ROBOTS)
        if response.failure in _REFUSED_BY_GUARD:
            self._politeness.waive(host)
        return response

    # -- robots.txt, wherever it moved --------------------------------------------------------------------------

    async def _ask_robots(self, item: QueuedUrl, origin: str) -> None:
        """Make the next request on the way to a robots.txt: after a redirect it may be to another host."""
        trail = self._trails.pop(origin, None) or _Trail(f"{origin}/robots.txt")
        host, now = host_of(trail.url), self._clock.now()
        if host != item.host and (ready := self._loans.borrow(host, now, wanted_by=item.host)) > now:
            self._trails[origin] = trail
            self._queues.postpone(item, ready)
            return
        if host != item.host and (rest := self._resting(host)) is not None:
            self._trails[origin] = trail
            self._wait_for(item, *rest)
            if rest[1]:
                self._loans.give_back(host, 0.0)
            return
        response = await self._request(trail.url, Purpose.ROBOTS)
        if isinstance(response, float):
            self._trails[origin] = trail
            self._queues.postpone(item, response)
            if host != item.host:
                self._queues.release(host, response)
            return
        if host != item.host:
            self._fetcher.release_body(host)
            after = self._politeness.after(host, response, self._clock.now())
            self._rest(after)
            self._loans.give_back(host, after.ready - self._clock.now())
        moved, response = self._followed(trail, response)
        if moved is not None:
            self._trails[origin] = moved
            self._queues.put_back(item)
            self._rest(self._politeness.after(item.host, response, self._clock.now()))
        else:
            await self._learn_robots(item, origin, response)

    def _resting(self, host: str) -> tuple[float, str] | None:
        """Until when another host is left alone, and why it is parked, if it is; None: it is ours for one request."""
        taken = self._queues.take_host(host, self._clock.now())
        if taken is None and (rest := self._carried_over(host)) is not None:
            self._queues.release(host, rest.ready, parked=rest.parked)
            return rest.ready, rest.parked
        return taken

    def _wait_for(self, item: QueuedUrl, ready: float, parked: str) -> None:
        """The host that a robots.txt moved to must not be asked; if it is left alone for long, so is this one."""
        if parked:
            self._queues.put_back(item)
            self._queues.release(item.host, ready, parked=parked)
        else:
            self._queues.postpone(item, ready)

    def _moved(self, trail: _Trail, response: Response) -> _Trail | None:
        """Where the file is said to be. RFC 9309: after five hops it counts as missing, which allows everything."""
        location = response.headers.get("location", "") if 300 <= response.status < 400 else ""
        target = self._redirects.join(response.url, location) if location else None
        return _Trail(target, trail.hops + 1) if target and trail.hops < _ROBOTS_HOPS else None

    def _followed(self, trail: _Trail, response: Response) -> tuple[_Trail | None, Response]:
        """Where to look for the file next; if nowhere, the answer that counts.

        A move to a host that `scope.hosts` excludes is not followed. The rules exist, and we do not know them: to crawl
        as if there were none would break them. So the file counts as unreachable, which parks the host.
        """
        moved = self._moved(trail, response)
        refusal = self._paths.refuse_moved_robots(moved.url, via=trail.url) if moved else None
        if moved is None or refusal is None:
            return moved, response
        detail = f"it moved to {moved.url}, and {refusal.detail}"
        return None, replace(response, failure=refusal.reason, detail=detail)

    async def _learn_robots(self, item: QueuedUrl, origin: str, response: Response) -> None:
        now = self._clock.now()  # when the request ended
        if response.failure in _REFUSED_BY_GUARD:
            assert response.failure is not None
            self._digester.refuse(item, Decision(Verdict.REFUSED, response.failure, response.detail), now)
            self._queues.release(item.host, 0.0)
            return
        response, file, rules = await self._parsed_robots(origin, response)
        self._tally.count_robots(response)
        self._log.batch.robots.append(file)
        self._politeness.obey(item.host, None if self._is_too_slow(rules) else rules.crawl_delay)
        self._queues.put_back(item)
        with self._paths.errors.contained(f"{origin}/robots.txt"):
            self._paths.sitemaps(rules.sitemaps, via=f"{origin}/robots.txt")
        if is_unreachable(file.status):
            why = f"{response.failure.value} {response.detail}" if response.failure else f"it answers {response.status}"
            self._robots.forget(origin)
            self._rest(self._politeness.park(item.host, f"robots.txt cannot be had: {why}", response, now))
        else:
            self._rest(self._politeness.after(item.host, response, now))

    async def _parsed_robots(self, origin: str, response: Response) -> tuple[Response, RobotsFile, Robots]:
        """Parse a robots.txt; one over which Periplus itself fails counts as unreachable."""
        try:
            file, rules = await self._robots.put(origin, response)
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            kind = self._paths.errors.record(f"{origin}/robots.txt", error)
            response = replace(response, failure=Reason.INTERNAL_ERROR, detail=kind)
            file, rules = await self._robots.put(origin, response)
        return response, file, rules

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

    def _rest(self, rest: HostPause) -> None:
        self._log.batch.policies[rest.policy.host] = rest.policy
        self._queues.release(rest.policy.host, rest.ready, parked=rest.parked)
