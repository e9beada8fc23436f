"""Makes the one request that a queued URL needs next: its robots.txt first, then the page."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, replace

from periplus.crawl.assignment import WorkerContext
from periplus.crawl.clock import wall_time
from periplus.crawl.coordination.ownership import Loans
from periplus.crawl.visit_steps import Step
from periplus.crawl.visits.link_intake import LinkIntake
from periplus.crawl.visits.outcome import OutcomeRecorder
from periplus.crawl.visits.page_errors import STOPS_THE_CRAWL
from periplus.crawl.visits.politeness import HostPause, PolitenessClock
from periplus.crawl.visits.robots import RobotsBusy, RobotsCache, is_unreachable
from periplus.fetch.client import Fetcher
from periplus.fetch.connections import AddressBusy
from periplus.fetch.memory_budget import LARGE
from periplus.fetch.multi import SendingForbidden
from periplus.fetch.resolver import LookupPending
from periplus.fetch.response_limits import Purpose
from periplus.fetch.robots import Robots
from periplus.model import Decision, Fetch, HostPolicy, QueuedUrl, Reason, Response, RobotsFile, Verdict
from periplus.url import Canonicalizer, host_of, split

_REFUSED_BY_GUARD = frozenset({Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})
_ROBOTS_HOPS = 5
_LEASE_PAUSE = 0.5  # seconds until a worker without a lease looks again


@dataclass(frozen=True, slots=True)
class _RobotsRedirect:
    """Where a robots.txt is to be fetched from, after so many redirects."""

    url: str
    hops: int = 0


class Visitor:
    """Makes one request at a time to a host: its robots.txt first, then its pages."""

    def __init__(
        self,
        context: WorkerContext,
        *,
        fetcher: Fetcher,
        politeness: PolitenessClock,
        robots: RobotsCache,
        recorder: OutcomeRecorder,
        intake: LinkIntake,
        loans: Loans,
    ) -> None:
        self._clock, self._queues, self._counters = context.clock, context.queues, context.counters
        self._pending, self._catalog, self._steps = context.pending, context.catalog, context.steps
        self._longest_crawl_delay = context.settings.politeness.longest_crawl_delay
        self._fetcher, self._politeness, self._robots = fetcher, politeness, robots
        self._recorder, self._intake, self._loans = recorder, intake, loans
        self._redirects = Canonicalizer()
        # Held while a large page is parsed. Large pages are rare, and each blocks the event loop for about 0.1 s.
        self._one_large = asyncio.Lock()
        self._moved_robots: dict[str, _RobotsRedirect] = {}  # by origin, while its robots.txt is being fetched

    def abort_requests(self) -> None:
        """Abort all requests: another worker may own their hosts. Their URLs go back to the queues."""
        self._fetcher.abort_all()

    async def visit(self, item: QueuedUrl) -> None:
        """Make the request that a URL needs next, then pause its host."""
        now = self._clock.now()
        self._counters.timing.begin(now)
        self._steps.enter(item.url, Step.ROBOTS, now)
        try:
            await self._visit(item)
        except asyncio.CancelledError:
            # The server may have had the request: the next run must keep the delay.
            policy = self._politeness.after_cancelled(item.host, self._clock.now())
            self._pending.batch.policies[policy.host] = policy
            raise
        finally:
            self._fetcher.release_body(item.host)
            self._steps.end(item.url)
            self._counters.timing.end(self._clock.now())

    async def _visit(self, item: QueuedUrl) -> None:
        try:
            step = await self._next_step(item)
        except RobotsBusy as busy:
            self._queues.postpone(item, self._clock.now() + busy.seconds)
            return
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            self._recorder.fail(item, error, wall_time(self._clock))
            self._queues.release(item.host, 0.0)
            return
        if isinstance(step, Decision):
            self._settle_without_request(item, step)
        elif isinstance(step, HostPause):
            self._queues.put_back(item)
            self._queues.release(item.host, step.ready, parked=step.parked)
        elif step is None:
            await self._fetch_robots(item, split(item.url).origin)
        else:
            self._politeness.set_crawl_delay(item.host, step.crawl_delay)
            await self._fetch(item)

    def _settle_without_request(self, item: QueuedUrl, decision: Decision) -> None:
        if decision.verdict is Verdict.DELAYED:
            self._queues.put_back(self._recorder.defer(item, decision))
        else:
            self._recorder.refuse(item, decision, wall_time(self._clock))
        self._queues.release(item.host, 0.0)

    async def _next_step(self, item: QueuedUrl) -> Decision | HostPause | Robots | None:
        """What a URL needs next: a refusal, a pause of its host, its robots.txt (None), or a fetch by these rules."""
        if (decision := self._intake.recheck(item)) is not None:
            return decision
        url = split(item.url)
        rules = await self._robots.find(url.origin, wall_time(self._clock))
        if (pause := self._earlier_pause(item.host)) is not None:
            return pause
        return rules and (self._refusal(rules, url.path) or rules)

    def _earlier_pause(self, host: str) -> HostPause | None:
        """The pause that an earlier run left for a host that is new in this run, if it still lasts."""
        if self._politeness.knows(host):
            return None
        now = self._clock.now()
        pause = self._politeness.recall(self._catalog.policy(host) or HostPolicy(host, None), now)
        return pause if pause.ready > now else None

    async def _fetch(self, item: QueuedUrl) -> None:
        purpose = Purpose.SITEMAP if item.reason is Reason.SITEMAP else Purpose.PAGE
        earlier = self._catalog.version_of(item.url) if item.visits else None
        # Sitemaps are fetched unconditionally: an unchanged sitemap still tells which pages are unchanged.
        self._steps.enter(item.url, Step.FETCH, self._clock.now())
        response = await self._request(item.url, purpose, earlier if purpose is Purpose.PAGE else None)
        if isinstance(response, float):
            self._queues.postpone(item, response)
            return
        now = self._clock.now()
        self._steps.enter(item.url, Step.PARSE, now)
        ahead = await self._recorder.parse_ahead(item, response)
        if len(response.body) < LARGE:
            self._recorder.record(item, response, now, earlier, ahead)
        else:
            async with self._one_large:
                began = time.perf_counter()
                self._recorder.record(item, response, now, earlier, ahead)
                await asyncio.sleep(
                    time.perf_counter() - began
                )  # other visits get as much time before the next large page
        self._pause(self._politeness.after(item.host, response, now))

    async def _request(self, url: str, purpose: Purpose, earlier: Fetch | None = None) -> Response | float:
        """Return the response, or the time of the next attempt when it is too early for a request.

        The request is conditional if there is an *earlier* version.
        """
        etag, last_modified = (earlier.etag, earlier.last_modified) if earlier else ("", "")
        host, now = host_of(url), self._clock.now()
        if blocked := self._loans.blocked_until(host, now):
            return blocked
        if wait := self._politeness.claim(host, now):
            return now + wait
        try:
            response = await self._fetcher.fetch(url, purpose=purpose, etag=etag, last_modified=last_modified)
        except (AddressBusy, LookupPending) as busy:
            self._politeness.cancel_claim(host)
            return self._clock.now() + busy.seconds
        except SendingForbidden:
            return self._rest_after_abort(host)
        self._counters.timing.delay = self._politeness.waited
        self._counters.timing.count(response, robots=purpose is Purpose.ROBOTS)
        if response.failure in _REFUSED_BY_GUARD:
            self._politeness.cancel_claim(host)
        return response

    def _rest_after_abort(self, host: str) -> float:
        """When a host may be requested again whose server may have had a request that was aborted."""
        now = self._clock.now()
        policy = self._pending.batch.policies[host] = self._politeness.after_cancelled(host, now)
        return max(policy.next_fetch - self._clock.ahead(), now + _LEASE_PAUSE)

    # -- robots.txt, also after redirects -----------------------------------------------------------------------

    async def _fetch_robots(self, item: QueuedUrl, origin: str) -> None:
        """Make the next request for a robots.txt; after a redirect it may go to another host."""
        source = self._moved_robots.pop(origin, None) or _RobotsRedirect(f"{origin}/robots.txt")
        host, now = host_of(source.url), self._clock.now()
        if host != item.host and (ready := self._loans.borrow(host, now, wanted_by=item.host)) > now:
            self._moved_robots[origin] = source
            self._queues.postpone(item, ready)
            return
        if host != item.host and (pause := self._pause_of(host)) is not None:
            self._moved_robots[origin] = source
            self._wait_for(item, *pause)
            if pause[1]:
                self._loans.end(host, 0.0)
            return
        response = await self._request(source.url, Purpose.ROBOTS)
        if isinstance(response, float):
            self._moved_robots[origin] = source
            self._queues.postpone(item, response)
            if host != item.host:
                self._queues.release(host, response)
            return
        if host != item.host:
            self._fetcher.release_body(host)
            after = self._politeness.after(host, response, self._clock.now())
            self._pause(after)
            self._loans.end(host, after.ready - self._clock.now())
        moved, response = self._followed(source, response)
        if moved is not None:
            self._moved_robots[origin] = moved
            self._queues.put_back(item)
            self._pause(self._politeness.after(item.host, response, self._clock.now()))
        else:
            await self._learn_robots(item, origin, response)

    def _pause_of(self, host: str) -> tuple[float, str] | None:
        """The end of another host's pause, and why it is parked; None: the host is reserved for one request."""
        taken = self._queues.take_host(host, self._clock.now())
        if taken is None and (pause := self._earlier_pause(host)) is not None:
            self._queues.release(host, pause.ready, parked=pause.parked)
            return pause.ready, pause.parked
        return taken

    def _wait_for(self, item: QueuedUrl, ready: float, parked: str) -> None:
        """Wait for the host that a robots.txt moved to; if that host is parked, park this one as well."""
        if parked:
            self._queues.put_back(item)
            self._queues.release(item.host, ready, parked=parked)
        else:
            self._queues.postpone(item, ready)

    def _moved(self, source: _RobotsRedirect, response: Response) -> _RobotsRedirect | None:
        """The target of a redirect. RFC 9309: after five hops the file counts as missing, which allows everything."""
        location = response.headers.get("location", "") if 300 <= response.status < 400 else ""
        target = self._redirects.join(response.url, location) if location else None
        return _RobotsRedirect(target, source.hops + 1) if target and source.hops < _ROBOTS_HOPS else None

    def _followed(self, source: _RobotsRedirect, response: Response) -> tuple[_RobotsRedirect | None, Response]:
        """The redirect to follow, or None and the response that counts.

        A redirect to a host that `scope.hosts` excludes is not followed. The site has rules that we do not know, so the
        file counts as unreachable, which parks the host.
        """
        moved = self._moved(source, response)
        refusal = self._intake.refuse_moved_robots(moved.url, via=source.url) if moved else None
        if moved is None or refusal is None:
            return moved, response
        detail = f"redirected to {moved.url}; {refusal.detail}"
        return None, replace(response, failure=refusal.reason, detail=detail)

    async def _learn_robots(self, item: QueuedUrl, origin: str, response: Response) -> None:
        now = self._clock.now()  # when the request ended
        if response.failure in _REFUSED_BY_GUARD:
            assert response.failure is not None
            self._recorder.refuse(item, Decision(Verdict.REFUSED, response.failure, response.detail), now)
            self._queues.release(item.host, 0.0)
            return
        response, file, rules = await self._parsed_robots(origin, response)
        self._counters.count_robots(response)
        self._pending.batch.robots.append(file)
        self._politeness.set_crawl_delay(item.host, None if self._is_too_slow(rules) else rules.crawl_delay)
        self._queues.put_back(item)
        with self._intake.errors.contained(f"{origin}/robots.txt"):
            self._intake.sitemaps(rules.sitemaps, via=f"{origin}/robots.txt")
        if is_unreachable(file.status):
            why = f"{response.failure.value} {response.detail}" if response.failure else f"HTTP {response.status}"
            self._robots.forget(origin)
            self._pause(self._politeness.park(item.host, f"robots.txt unreachable: {why}", response, now))
        else:
            self._pause(self._politeness.after(item.host, response, now))

    async def _parsed_robots(self, origin: str, response: Response) -> tuple[Response, RobotsFile, Robots]:
        """Parse a robots.txt; one that raises an exception of ours counts as unreachable."""
        try:
            file, rules = await self._robots.put(origin, response)
        except STOPS_THE_CRAWL:
            raise
        except Exception as error:
            kind = self._intake.errors.record(f"{origin}/robots.txt", error)
            response = replace(response, failure=Reason.INTERNAL_ERROR, detail=kind)
            file, rules = await self._robots.put(origin, response)
        return response, file, rules

    def _refusal(self, rules: Robots, path: str) -> Decision | None:
        verdict = rules.verdict(path)
        if not verdict.allowed:
            return Decision(Verdict.REFUSED, Reason.ROBOTS, f"robots.txt line {verdict.line_number}: {verdict.line}")
        if self._is_too_slow(rules):
            longest = self._longest_crawl_delay
            detail = f"Crawl-delay {rules.crawl_delay:g} s exceeds politeness.longest_crawl_delay = {longest:g} s"
            return Decision(Verdict.REFUSED, Reason.CRAWL_DELAY_TOO_LONG, detail)
        return None

    def _is_too_slow(self, rules: Robots) -> bool:
        return (rules.crawl_delay or 0.0) > self._longest_crawl_delay

    def _pause(self, pause: HostPause) -> None:
        self._pending.batch.policies[pause.policy.host] = pause.policy
        self._queues.release(pause.policy.host, pause.ready, parked=pause.parked)
