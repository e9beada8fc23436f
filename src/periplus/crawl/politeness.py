"""When may this host be asked again, and why not sooner?"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from periplus.config import Politeness
from periplus.model import HostPolicy, Reason, Response

_RETRY_AFTER = "retry_after"
_SLOW_DOWN = frozenset({429, 503})
_NOT_THE_HOSTS_FAULT = frozenset({None, Reason.WRONG_TYPE, Reason.TOO_LARGE, Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})


@dataclass(slots=True)
class _Manners:
    delay: float
    why: str
    backoff: float = 0.0  # seconds on top of nothing: the delay while the host asks to be spared
    failures: int = 0
    asked: float = 0.0  # when its last request of this run ended, or began while it is under way
    ready: float = 0.0  # until when it rests after that request


@dataclass(frozen=True, slots=True)
class HostPause:
    """Until when a host is left alone."""

    ready: float
    parked: str  # why it is too long to wait for, so that the crawl may end before; empty: it is not
    policy: HostPolicy


class PolitenessClock:
    """Keeps the delay of every host: from the end of a request to the start of the next.

    Counted from the end, because only then is it certain that the server had the request: however busy this machine or
    the network is, the server never sees two requests closer than the delay.
    """

    def __init__(
        self, settings: Politeness, *, after_kill: bool = False, ahead: Callable[[], float] = lambda: 0.0
    ) -> None:
        """*after_kill*: the last requests of the run before are not known, so every host rests once more.

        *ahead*: seconds by which the time of day, in which policies and headers count, is ahead of *now* below.
        """
        self._settings, self._ahead = settings, ahead
        self._after_kill = after_kill
        self._hosts: dict[str, _Manners] = {}
        self.rested = 0.0  # seconds, over all requests: how long each had to wait for the rest of its host to end

    def knows(self, host: str) -> bool:
        """Whether the host was met or recalled in this run."""
        return host in self._hosts

    def forget(self, hosts: Iterable[str]) -> None:
        """Hosts that are done with, or another worker's from now on; should they come back, the catalog knows them."""
        for host in hosts:
            self._hosts.pop(host, None)

    def recall(self, policy: HostPolicy, now: float) -> HostPause:
        """Until when an earlier run asks to wait; a time that a wrong clock put far ahead is cut back."""
        delay = max(self._manners(policy.host).delay, policy.delay or 0.0)
        ready = min(policy.next_fetch - self._ahead(), now + max(delay, self._settings.longest_retry_after))
        if self._after_kill:
            ready = max(ready, now + delay)
        parked = _RETRY_AFTER if ready > now + self._settings.longest_backoff else ""
        return HostPause(ready, parked, replace(policy, next_fetch=ready))

    def obey(self, host: str, crawl_delay: float | None) -> None:
        """robots.txt asks for a delay; the configured one stays the least."""
        manners = self._manners(host)
        if crawl_delay is not None and crawl_delay > self._settings.delay:
            manners.delay, manners.why = crawl_delay, "Crawl-delay in robots.txt"
        else:
            manners.delay, manners.why = self._settings.delay, ""

    def claim(self, host: str, now: float) -> float:
        """Begin a request to a host; returns the seconds to wait instead, when it is too early for one."""
        manners = self._manners(host)
        earliest = manners.asked + manners.delay
        if now < earliest:
            return earliest - now
        if manners.asked:
            self.rested += min(now, max(manners.ready, earliest)) - manners.asked
        manners.asked = now
        return 0.0

    def waive(self, host: str) -> None:
        """The request was not made after all; the one before it is long enough ago."""
        self._manners(host).asked = 0.0

    def after(self, host: str, response: Response, now: float) -> HostPause:
        """What a response means for the next request to its host."""
        manners = self._manners(host)
        manners.asked = now
        self._learn(manners, response)
        ready, why = manners.asked + max(manners.delay, manners.backoff), manners.why
        if manners.backoff > manners.delay:
            why = f"answered {response.status}" if response.status else "does not answer"
        if (retry_after := self._retry_after(response, now)) is not None:
            ready = max(ready, now + retry_after)
            why = f"Retry-After of {retry_after:.0f} s"
        manners.ready = ready
        if manners.failures >= self._settings.failures_to_park:
            return self._parked(host, f"{manners.failures} errors in a row", _cause(response), ready, now)
        parked = _RETRY_AFTER if ready > now + self._settings.longest_backoff else ""
        return HostPause(ready, parked, self._policy(host, why, ready))

    def dropped(self, host: str, now: float) -> HostPolicy:
        """A request is given up before its answer: its host rests as after any other."""
        manners = self._manners(host)
        return self._policy(host, manners.why, now + max(manners.delay, manners.backoff))

    def park(self, host: str, why: str, response: Response, now: float) -> HostPause:
        """Leave a host alone for the longest back-off, or for as long as it asks."""
        manners = self._manners(host)
        manners.asked = now
        ready = now + max(manners.delay, self._retry_after(response, now) or 0.0)
        return self._parked(host, why, _cause(response), ready, now)

    def _parked(self, host: str, why: str, cause: str, ready: float, now: float) -> HostPause:
        """For this run the host is left alone; the next one, somebody's wish, may ask as soon as that is polite."""
        return HostPause(max(ready, now + self._settings.longest_backoff), cause, self._policy(host, why, ready))

    def _policy(self, host: str, why: str, ready: float) -> HostPolicy:
        """What is written down about a host that rests until *ready*."""
        manners = self._manners(host)
        return HostPolicy(host, manners.delay, why, ready + self._ahead(), manners.failures)

    def _learn(self, manners: _Manners, response: Response) -> None:
        if response.status in _SLOW_DOWN:
            longest = self._settings.longest_backoff
            manners.backoff = min(max(manners.backoff, manners.delay, 0.5) * 2, longest)
            manners.failures += 1
        elif response.status >= 500 or response.failure not in _NOT_THE_HOSTS_FAULT:
            manners.failures += 1
        else:
            manners.backoff = manners.backoff / 2 if manners.backoff > 1 else 0.0
            manners.failures = 0

    def _manners(self, host: str) -> _Manners:
        manners = self._hosts.get(host)
        if manners is None:
            manners = self._hosts[host] = _Manners(self._settings.delay, "")
        return manners

    def _retry_after(self, response: Response, now: float) -> float | None:
        text = response.headers.get("retry-after", "").strip()
        if not text or response.status not in _SLOW_DOWN:
            return None
        wait = _seconds(text, now + self._ahead())
        return None if wait is None else min(max(wait, 0.0), self._settings.longest_retry_after)


def _cause(response: Response) -> str:
    """The reason of a failure, as summaries count it."""
    return response.failure.value if response.failure else f"http_{response.status}"


def _seconds(text: str, now: float) -> float | None:
    if text.isdecimal():
        return float(text[:12])
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None
