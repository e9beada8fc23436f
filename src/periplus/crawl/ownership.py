"""Which domains belong to this worker, and how may it fetch from a host of another worker?

All URLs of a registrable domain have one owner at a time, so politeness and caps need no lock. Domains fall into shares
by hash. A share changes its owner as a whole, when the owner has more to do than another worker.

A worker fetches from a host of another worker only for a robots.txt that has moved there, under a lease of that host's
share. While the lease lasts, the owner begins no request to that share and closes its connections. The leaseholder
waits until every request of the owner must have ended, then makes its own. The lease ends after the host's delay, when
the share that needed the robots.txt gets another owner, or when it expires. The expiry is in shared memory, so a lease
ends even if its holder has died.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from periplus.crawl.shared_state import SharedState
from periplus.fetch.client import Fetcher
from periplus.frontier.shares import share_of

_MIN_URLS = 20  # queued in a share that is given away
_MIN_PART = 0.1  # of the difference in load, unless the receiver is idle: it has to load the state of all hosts


def share_to_give(waiting: Counter[int], load: int) -> int | None:
    """Choose the share to give to a worker with *load* queued URLs; None: keep all.

    *waiting*: queued URLs by share, here. Chosen is the largest share that leaves the receiver with no more than the
    giver. The largest of all is always kept: giving it away would only move the overload.
    """
    difference = waiting.total() - load
    least = max(_MIN_URLS, _MIN_PART * difference) if load else _MIN_URLS
    return next((share for share, urls in waiting.most_common()[1:] if least <= urls <= difference / 2), None)


class Ownership:
    """The shares of one worker."""

    def __init__(self, shared: SharedState, worker: int) -> None:
        self._shared, self._worker = shared, worker
        self._held: set[int] = set()  # owned shares whose state this worker has loaded
        self.leaving: int | None = None  # the share that is about to go to another worker
        self.is_sole_worker = shared.workers == 1

    def owns(self, host: str) -> bool:
        """Whether this worker admits and fetches the URLs of a host."""
        return self.is_sole_worker or self.owns_share(share_of(host))

    def owns_share(self, share: int) -> bool:
        """Whether this worker receives the URLs forwarded to a share."""
        return share in self._held and share != self.leaving

    def newly_owned(self) -> set[int]:
        """The shares that this worker was given since the last call; their state is on disk."""
        worker, owners = self._worker, self._shared.owners
        if self._held and owners.tobytes().count(worker) == len(self._held):
            return set()
        mine = {share for share, owner in enumerate(owners) if owner == worker}
        new, self._held = mine - self._held, mine
        return new

    def __len__(self) -> int:
        return len(self._held)

    def hand_over(self, receiver: int) -> None:
        """Make another worker the owner of the leaving share, whose state is on disk."""
        assert self.leaving is not None
        self._held.discard(self.leaving)
        self._shared.owners[self.leaving] = receiver
        self.leaving = None


_RETRY_SECONDS = 0.5  # until a worker that waits for a lease tries again


@dataclass(slots=True)
class _Lease:
    """A lease that this worker holds, of a share of another worker."""

    since: float
    resting_until: float  # the end of the delay of a host that was fetched under an earlier lease
    wanted_by: set[int] = field(default_factory=set)  # shares whose robots.txt is in the leased share


class Leases:
    """Acquires leases of shares for one worker, and respects those of the others."""

    def __init__(
        self, shared: SharedState, worker: int, ownership: Ownership, fetcher: Fetcher, patience: float, longest: float
    ) -> None:
        """*patience*: seconds after which any request under way has ended, and the delay of its host as well.

        *longest*: the longest delay of a host in seconds that a lease covers; the catalog keeps longer ones.
        """
        self._shared, self._worker, self._ownership, self._fetcher = shared, worker, ownership, fetcher
        self._patience, self._longest = patience, longest
        self.duration = 2 * patience + longest  # seconds: requests of the owner, our request, the delay of the host
        self._leases: dict[int, _Lease] = {}  # by share

    def blocked_until(self, host: str, now: float) -> float:
        """When to try a host again whose share another worker has leased; 0: no other worker has."""
        if self._shared.leaseholder(share_of(host)) in (None, self._worker):
            return 0.0
        return now + _RETRY_SECONDS

    def acquire(self, host: str, now: float, *, wanted_by: str) -> float:
        """Lease the share of *host*, which the host *wanted_by* needs; returns when this worker may fetch or retry."""
        share = share_of(host)
        if self._ownership.owns(host):
            self._end(share, 0.0)
            return now
        left, lease = self._shared.lease_left(share, self._worker), self._leases.get(share)
        if lease is None or not left:
            if not self._shared.acquire_lease(share, self._worker, self.duration):
                return now + _RETRY_SECONDS
            lease = self._leases[share] = _Lease(now, now + left)
        elif left < self._patience:  # too short for a request and a delay; the owner has its turn before the next lease
            return now + left + 2 * _RETRY_SECONDS
        lease.wanted_by.add(share_of(wanted_by))
        return lease.since + self._patience

    def end(self, host: str, delay: float) -> None:
        """End the lease for a host; its owner may fetch from it after *delay* seconds."""
        if self._ownership.owns(host):
            self._end(share_of(host), 0.0)
        else:
            self._fetcher.disconnect([host])
            self._end(share_of(host), delay)

    def leave_share(self, share: int, hosts: Iterable[str], now: float) -> None:
        """Close the connections of a share that goes to another worker, and end the leases that only it needs."""
        self._fetcher.disconnect(hosts)
        for leased, lease in list(self._leases.items()):
            lease.wanted_by.discard(share)
            if not lease.wanted_by:
                self._end(leased, lease.resting_until - now)

    def close_leased_connections(self) -> None:
        """Close the connections to hosts that other workers have leased."""
        if self._shared.has_leases:
            self._shared.remove_expired_leases()
            self._fetcher.disconnect([host for host in self._fetcher.connected if self.blocked_until(host, 0.0)])

    def _end(self, share: int, seconds: float) -> None:
        self._leases.pop(share, None)
        self._shared.end_lease(share, self._worker, min(max(seconds, 0.0), self._longest))
