"""Which domains belong to this worker?

All URLs of a registrable domain have one owner at a time, so politeness and caps need no lock. Domains fall into shares
by hash; a share changes hands as a whole, when its owner has more to do than another worker.

How may a worker ask a host that is another worker's?

Once, for a robots.txt that has moved there. The worker takes a lease of the share that the host falls into: from then
on the owner begins no request there and closes its connections. A request that the owner had under way is over after
the longest time that a request may take; only then does the borrower ask. The lease ends when the host has had its
rest, when the share that needed the robots.txt goes to another worker, or when its time is over. Its end is written in
shared memory, so it ends even if the borrower has died.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache

import xxhash

from periplus.crawl.shared_state import SHARES, SharedState
from periplus.fetch.client import Fetcher
from periplus.url import registrable_domain

_WORTH_GIVING = 20  # URLs waiting in a share
_WORTH_MOVING = (
    0.1  # of the difference, as long as the other worker has something to do: it has to learn about the hosts
)


@lru_cache(maxsize=65536)
def share_of(host: str) -> int:
    """The share of the web that a host falls into."""
    return xxhash.xxh3_64_intdigest(registrable_domain(host).encode()) % SHARES


def share_to_give(waiting: Counter[int], load: int) -> int | None:
    """Which share goes to a worker where *load* URLs wait, by what waits in each share here; None: none.

    The most laden one that leaves no more to do there than here; the most laden of all is kept, for it would only make
    the other worker the one with too much.
    """
    difference = waiting.total() - load
    least = max(_WORTH_GIVING, _WORTH_MOVING * difference) if load else _WORTH_GIVING
    return next((share for share, urls in waiting.most_common()[1:] if least <= urls <= difference / 2), None)


class Ownership:
    """The shares of one worker."""

    def __init__(self, board: SharedState, worker: int) -> None:
        self._board, self._worker = board, worker
        self._held: set[int] = set()  # those whose state this worker has read
        self.leaving: int | None = None  # the share that is about to go to another worker
        self.is_alone = board.workers == 1

    def owns(self, host: str) -> bool:
        """Whether URLs of this host are this worker's to admit and fetch."""
        return self.is_alone or self.owns_share(share_of(host))

    def owns_share(self, share: int) -> bool:
        """Whether letters to this share are this worker's to read."""
        return share in self._held and share != self.leaving

    def arrivals(self) -> set[int]:
        """The shares that have become this worker's since the last time; their state is on disk."""
        worker, owners = self._worker, self._board.owners
        if self._held and owners.tobytes().count(worker) == len(self._held):
            return set()
        mine = {share for share, owner in enumerate(owners) if owner == worker}
        new, self._held = mine - self._held, mine
        return new

    def __len__(self) -> int:
        return len(self._held)

    def give(self, receiver: int) -> None:
        """Hand over the share that is leaving; everything about it is on disk."""
        assert self.leaving is not None
        self._held.discard(self.leaving)
        self._board.owners[self.leaving] = receiver
        self.leaving = None


_LOOK_AGAIN = 0.5  # seconds until a worker that has to wait looks again


@dataclass(slots=True)
class _Loan:
    """A share of another worker, of which this worker has a lease."""

    since: float
    resting_until: float  # a host in it was asked under an earlier lease, and rests until then
    wanted_by: set[int] = field(default_factory=set)  # the shares whose robots.txt is there


class Leases:
    """Takes and respects leases of shares, for one worker."""

    def __init__(
        self, board: SharedState, worker: int, territory: Ownership, fetcher: Fetcher, patience: float, longest: float
    ) -> None:
        """*patience*: seconds after which a request that was under way is over, and its host has had its rest.

        *longest*: seconds that a host may rest before the lease ends; the catalog knows longer rests.
        """
        self._board, self._worker, self._territory, self._fetcher = board, worker, territory, fetcher
        self._patience, self._longest = patience, longest
        self.lease = 2 * patience + longest  # seconds: requests of the owner, the rest of the host, one request
        self._loans: dict[int, _Loan] = {}  # by share

    def lent(self, host: str, now: float) -> float:
        """Until when a host must wait because another worker has a lease of its share, at least; 0: none has."""
        if self._board.borrower(share_of(host)) in (None, self._worker):
            return 0.0
        return now + _LOOK_AGAIN

    def borrow(self, host: str, now: float, *, wanted_by: str) -> float:
        """From when on this worker may ask *host*, which the host *wanted_by* needs."""
        share = share_of(host)
        if self._territory.owns(host):
            self._end(share, 0.0)
            return now
        left, loan = self._board.lease_left(share, self._worker), self._loans.get(share)
        if loan is None or not left:
            if not self._board.borrow(share, self._worker, self.lease):
                return now + _LOOK_AGAIN
            loan = self._loans[share] = _Loan(now, now + left)
        elif left < self._patience:  # too little for a request and a rest; the owner has its turn before the next lease
            return now + left + 2 * _LOOK_AGAIN
        loan.wanted_by.add(share_of(wanted_by))
        return loan.since + self._patience

    def give_back(self, host: str, rest: float) -> None:
        """A host was asked, or will not be; it rests for so many seconds before its owner may ask it."""
        if self._territory.owns(host):
            self._end(share_of(host), 0.0)
        else:
            self._fetcher.disconnect([host])
            self._end(share_of(host), rest)

    def end_for(self, share: int, now: float) -> None:
        """End the leases that only a share needs which is another worker's from now on."""
        for borrowed, loan in list(self._loans.items()):
            loan.wanted_by.discard(share)
            if not loan.wanted_by:
                self._end(borrowed, loan.resting_until - now)

    def attend(self) -> None:
        """Close the connections to hosts of which other workers have leases."""
        if self._board.has_leases:
            self._board.clear_leases()
            self._fetcher.disconnect([host for host in self._fetcher.connected if self.lent(host, 0.0)])

    def _end(self, share: int, seconds: float) -> None:
        self._loans.pop(share, None)
        self._board.give_back(share, self._worker, min(max(seconds, 0.0), self._longest))
