"""How may a worker ask a host that is another worker's?

Once, for a robots.txt that has moved there. The worker takes a lease of the share that the host falls into: from then
on the owner begins no request there and closes its connections. A request that the owner had under way is over after
the longest time that a request may take; only then does the borrower ask. The lease ends when the host has had its
rest, when the share that needed the robots.txt goes to another worker, or when its time is over. Its end is written in
shared memory, so it ends even if the borrower has died.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from periplus.crawl.ownership import Territory, share_of
from periplus.crawl.shared_state import Board
from periplus.fetch.client import Fetcher

_LOOK_AGAIN = 0.5  # seconds until a worker that has to wait looks again


@dataclass(slots=True)
class _Loan:
    """A share of another worker, of which this worker has a lease."""

    since: float
    resting_until: float  # a host in it was asked under an earlier lease, and rests until then
    wanted_by: set[int] = field(default_factory=set)  # the shares whose robots.txt is there


class Loans:
    """Takes and respects leases of shares, for one worker."""

    def __init__(
        self, board: Board, worker: int, territory: Territory, fetcher: Fetcher, patience: float, longest: float
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
            self._fetcher.hang_up([host])
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
            self._fetcher.hang_up([host for host in self._fetcher.connected if self.lent(host, 0.0)])

    def _end(self, share: int, seconds: float) -> None:
        self._loans.pop(share, None)
        self._board.give_back(share, self._worker, min(max(seconds, 0.0), self._longest))
