"""When may this host be asked again, and why not sooner?"""

from __future__ import annotations

from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from periplus.config import Politeness
from periplus.model import HostPolicy, Reason, Response

_SLOW_DOWN = frozenset({429, 503})
_NOT_THE_HOSTS_FAULT = frozenset({Reason.WRONG_TYPE, Reason.TOO_LARGE, Reason.PRIVATE_ADDRESS, Reason.NO_CONTACT})


@dataclass(slots=True)
class _Manners:
    delay: float
    why: str
    backoff: float = 0.0  # seconds on top of nothing: the delay while the host asks to be spared
    failures: int = 0


@dataclass(frozen=True, slots=True)
class Rest:
    """Until when a host is left alone."""

    ready: float
    parked: bool  # too long to wait for: the crawl may end before
    policy: HostPolicy


class PolitenessClock:
    """Keeps the delay of every host, by the starts of its requests."""

    def __init__(self, settings: Politeness) -> None:
        self._settings = settings
        self._hosts: dict[str, _Manners] = {}

    def recall(self, policy: HostPolicy, now: float) -> HostPolicy:
        """Take over what an earlier run knew; a time that a wrong clock put far ahead is cut back."""
        manners = self._manners(policy.host)
        if policy.delay is not None and policy.why:
            manners.delay, manners.why = policy.delay, policy.why
        latest = now + max(manners.delay, self._settings.longest_retry_after)
        return HostPolicy(policy.host, manners.delay, manners.why, min(policy.next_fetch, latest), 0)

    def obey(self, host: str, crawl_delay: float | None) -> None:
        """robots.txt asks for a delay; the configured one stays the least."""
        manners = self._manners(host)
        if crawl_delay is not None and crawl_delay > self._settings.delay:
            manners.delay, manners.why = crawl_delay, "Crawl-delay in robots.txt"
        else:
            manners.delay, manners.why = self._settings.delay, ""

    def delay(self, host: str) -> float:
        """Seconds between two requests to a host."""
        return self._manners(host).delay

    def after(self, host: str, response: Response, started: float, now: float) -> Rest:
        """What a response means for the next request to its host."""
        manners = self._manners(host)
        self._learn(manners, response)
        wait = max(manners.delay, manners.backoff)
        ready, why = started + wait, manners.why
        if manners.backoff > manners.delay:
            why = f"answered {response.status}" if response.status else "does not answer"
        if (retry_after := _retry_after(response, now)) is not None:
            ready = max(ready, now + min(retry_after, self._settings.longest_retry_after))
            why = f"Retry-After of {retry_after:.0f} s"
        parked = manners.failures >= self._settings.failures_to_park or ready > now + self._settings.longest_backoff
        if manners.failures >= self._settings.failures_to_park:
            ready = now + self._settings.longest_backoff
            why = f"{manners.failures} errors in a row"
        return Rest(ready, parked, HostPolicy(host, manners.delay, why, ready, manners.failures))

    def park(self, host: str, why: str, now: float) -> Rest:
        """Leave a host alone for as long as the longest back-off."""
        manners = self._manners(host)
        ready = now + self._settings.longest_backoff
        return Rest(ready, True, HostPolicy(host, manners.delay, why, ready, manners.failures))

    def _learn(self, manners: _Manners, response: Response) -> None:
        if response.status in _SLOW_DOWN:
            longest = self._settings.longest_backoff
            manners.backoff = min(max(manners.backoff, manners.delay, 0.5) * 2, longest)
            manners.failures += 1
        elif response.failure is not None and response.failure not in _NOT_THE_HOSTS_FAULT:
            manners.failures += 1
        else:
            manners.backoff = manners.backoff / 2 if manners.backoff > 1 else 0.0
            manners.failures = 0

    def _manners(self, host: str) -> _Manners:
        manners = self._hosts.get(host)
        if manners is None:
            manners = self._hosts[host] = _Manners(self._settings.delay, "")
        return manners


def _retry_after(response: Response, now: float) -> float | None:
    text = response.headers.get("retry-after", "").strip()
    if not text or response.status not in _SLOW_DOWN:
        return None
    if text.isdigit():
        return float(text[:12])
    try:
        return max(parsedate_to_datetime(text).timestamp() - now, 0.0)
    except (ValueError, OverflowError, OSError):
        return None
