"""When may this host be fetched again, and why not sooner?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime

from periplus.config import Politeness
from periplus.model import HostPolicy, Reason, Response
from periplus.store.shares import share_of

_RETRY_AFTER = "retry_after"
_SLOW_DOWN = frozenset({429, 503})
_NO_FAILURE_OF_HOST = frozenset({None, Reason.WRONG_TYPE, Reason.TOO_LARGE, Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})


@dataclass(slots=True)
class _HostState:
    delay: float  # seconds
    why: str  # the reason for a delay other than the configured one
    backoff: float = 0.0  # seconds; replaces a shorter delay while the host answers 429 or 503
    failures: int = 0  # in a row
    requested: float = 0.0  # when its last request of this run ended, or began while the request is under way
    ready: float = 0.0  # end of the delay after that request


@dataclass(frozen=True, slots=True)
class HostPause:
    """Until when no request is made to a host."""

    ready: float
    parked: str  # why the crawl may end without waiting for this host; empty: the host is not parked
    policy: HostPolicy


class PolitenessClock:
    """Keeps the delay of every host: from the end of a request to the start of the next.

    Only at the end of a request is it certain that the server had it. So a server never sees two requests closer than
    the delay, however busy this machine or the network is.
    """

    def __init__(
        self, settings: Politeness, *, after_kill: bool = False, ahead: Callable[[], float] = lambda: 0.0
    ) -> None:
        """*after_kill*: the last requests of the previous run are unknown, so every host first has its delay again.

        *ahead*: seconds by which the system time, which policies and headers use, is ahead of *now* below.
        """
        self._settings, self._ahead = settings, ahead
        self._after_kill = after_kill
        self._inherited: dict[int, float] = {}  # by share: when the last request of an owner that died has ended
        self._hosts: dict[str, _HostState] = {}
        self.waited = 0.0  # seconds that all requests together waited for the delay of their host

    def knows(self, host: str) -> bool:
        """Whether the host was requested or recalled in this run."""
        return host in self._hosts

    def forget(self, hosts: Iterable[str]) -> None:
        """Drop the state of hosts that have no queued URLs, or another owner; the catalog keeps their policies."""
        for host in hosts:
            self._hosts.pop(host, None)

    def recall(self, policy: HostPolicy, now: float) -> HostPause:
        """Restore the pause that an earlier run recorded; a time far ahead, from a wrong clock, is cut."""
        delay = max(self._state(policy.host).delay, policy.delay or 0.0)
        ready = min(policy.next_fetch - self._ahead(), now + max(delay, self._settings.longest_retry_after))
        if self._after_kill:
            ready = max(ready, now + delay)
        if self._inherited:
            ready = max(ready, self._inherited.get(share_of(policy.host), -math.inf) + delay)
        parked = _RETRY_AFTER if ready > now + self._settings.longest_backoff else ""
        return HostPause(ready, parked, replace(policy, next_fetch=ready))

    def inherit(self, share: int, ended: float) -> None:
        """Keep the delay of the hosts of a share after requests that are not recorded, and have ended by *ended*."""
        self._inherited[share] = ended

    def ended_inheritances(self, now: float) -> list[int]:
        """The shares for which `inherit` was called and whose time has passed; each is returned once."""
        ended = [share for share, end in self._inherited.items() if end <= now]
        for share in ended:
            del self._inherited[share]
        return ended

    def set_crawl_delay(self, host: str, crawl_delay: float | None) -> None:
        """Apply the Crawl-delay of robots.txt; the configured delay is the minimum."""
        state = self._state(host)
        if crawl_delay is not None and crawl_delay > self._settings.delay:
            state.delay, state.why = crawl_delay, "Crawl-delay in robots.txt"
        else:
            state.delay, state.why = self._settings.delay, ""

    def claim(self, host: str, now: float) -> float:
        """Begin a request to a host; returns the seconds to wait instead when it is too early, else 0."""
        state = self._state(host)
        earliest = state.requested + state.delay
        if now < earliest:
            return earliest - now
        if state.requested:
            self.waited += min(now, max(state.ready, earliest)) - state.requested
        state.requested = now
        return 0.0

    def cancel_claim(self, host: str) -> None:
        """The claimed request was not made; the previous one ended long enough ago."""
        self._state(host).requested = 0.0

    def after(self, host: str, response: Response, now: float) -> HostPause:
        """Return the pause of a host after a response."""
        state = self._state(host)
        state.requested = now
        self._learn(state, response)
        ready, why = state.requested + max(state.delay, state.backoff), state.why
        if state.backoff > state.delay:
            why = f"HTTP {response.status}" if response.status else "no response"
        if (retry_after := self._retry_after(response, now)) is not None:
            ready = max(ready, now + retry_after)
            why = f"Retry-After of {retry_after:.0f} s"
        state.ready = ready
        if state.failures >= self._settings.failures_to_park:
            return self._parked(host, f"{state.failures} errors in a row", _cause(response), ready, now)
        parked = _RETRY_AFTER if ready > now + self._settings.longest_backoff else ""
        return HostPause(ready, parked, self._policy(host, why, ready))

    def after_cancelled(self, host: str, now: float) -> HostPolicy:
        """Return the policy of a host after a request that was cancelled: the same delay as after any other."""
        state = self._state(host)
        return self._policy(host, state.why, now + max(state.delay, state.backoff))

    def forgive(self, host: str, now: float) -> HostPause:
        """Forget the errors and the backoff of a host; its usual delay after the last request stays."""
        state = self._state(host)
        state.backoff, state.failures = 0.0, 0
        state.ready = max(state.requested + state.delay, now) if state.requested else now + state.delay
        return HostPause(state.ready, "", self._policy(host, state.why, state.ready))

    def seconds_since_request(self, host: str, now: float) -> float:
        """Seconds since the last request to a host ended; 0 when this run has made none."""
        state = self._hosts.get(host)
        return max(now - state.requested, 0.0) if state is not None and state.requested else 0.0

    def park(self, host: str, why: str, response: Response, now: float) -> HostPause:
        """Park a host for the longest backoff, or for its Retry-After if that is longer."""
        state = self._state(host)
        state.requested = now
        ready = now + max(state.delay, self._retry_after(response, now) or 0.0)
        return self._parked(host, why, _cause(response), ready, now)

    def _parked(self, host: str, why: str, cause: str, ready: float, now: float) -> HostPause:
        """Park a host for this run; the next run may fetch it as soon as its delay has passed."""
        return HostPause(max(ready, now + self._settings.longest_backoff), cause, self._policy(host, why, ready))

    def _policy(self, host: str, why: str, ready: float) -> HostPolicy:
        """The policy to record for a host that pauses until *ready*."""
        state = self._state(host)
        return HostPolicy(host, state.delay, why, ready + self._ahead(), state.failures)

    def _learn(self, state: _HostState, response: Response) -> None:
        if response.status in _SLOW_DOWN:
            longest = self._settings.longest_backoff
            state.backoff = min(max(state.backoff, state.delay, 0.5) * 2, longest)
            state.failures += 1
        elif response.status >= 500 or response.failure not in _NO_FAILURE_OF_HOST:
            state.failures += 1
        else:
            state.backoff = state.backoff / 2 if state.backoff > 1 else 0.0
            state.failures = 0

    def _state(self, host: str) -> _HostState:
        state = self._hosts.get(host)
        if state is None:
            state = self._hosts[host] = _HostState(self._settings.delay, "")
        return state

    def _retry_after(self, response: Response, now: float) -> float | None:
        text = response.headers.get("retry-after", "").strip()
        if not text or response.status not in _SLOW_DOWN:
            return None
        wait = _seconds(text, now + self._ahead())
        return None if wait is None else min(max(wait, 0.0), self._settings.longest_retry_after)


def _cause(response: Response) -> str:
    """The reason of a failure, as run summaries count it."""
    return response.failure.value if response.failure else f"http_{response.status}"


def _seconds(text: str, now: float) -> float | None:
    if text.isdecimal():
        return float(text[:12])
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError, OSError):
        return None
