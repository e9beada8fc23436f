"""When is a host fetched next, and why not sooner?"""

from __future__ import annotations

from typing import NamedTuple

from periplus.config import Politeness
from periplus.store.catalog.listings import HostRow

_CAUSES = (  # how the reason of a delay begins, and its cause
    ("Crawl-delay", "crawl-delay"),
    ("Retry-After", "retry-after"),
    ("HTTP 429", "429"),
    ("HTTP 503", "503"),
    ("no response", "adaptive"),
    ("robots.txt", "robots"),
)


class NextFetch(NamedTuple):
    """The next fetch of a host."""

    at: float | None  # None: not before something else has changed
    cause: (
        str  # blocked, empty, stopped, paused, parked, crawl-delay, retry-after, 429, 503, adaptive, robots, delay, now
    )
    sentence: str


def next_fetch(host: HostRow, crawl: str, settings: Politeness, now: float) -> NextFetch:
    """The next fetch of a host; *crawl*: running, paused or stopped."""
    if host.blocked is not None:
        return NextFetch(None, "blocked", "You blocked this host.")
    if not host.queued:
        return NextFetch(None, "empty", "No URL of this host is queued.")
    if crawl == "stopped":
        return NextFetch(None, "stopped", "No crawl is running.")
    if crawl == "paused":
        return NextFetch(None, "paused", "The crawl is paused.")
    if host.failures >= settings.failures_to_park:
        why = f"Parked for this run after {host.failures} errors in a row."
        return NextFetch(host.next_fetch, "parked", why)
    if host.next_fetch <= now:
        return NextFetch(now, "now", "As soon as a connection is free.")
    return _delayed(host, settings)


def _delayed(host: HostRow, settings: Politeness) -> NextFetch:
    if not host.delay_why:
        return NextFetch(host.next_fetch, "delay", f"The delay of {host.delay or settings.delay:g} s between requests.")
    cause = next((cause for begin, cause in _CAUSES if host.delay_why.startswith(begin)), "adaptive")
    delay = f" ({host.delay:g} s between requests)" if cause == "crawl-delay" and host.delay else ""
    return NextFetch(host.next_fetch, cause, f"{host.delay_why}{delay}.")
