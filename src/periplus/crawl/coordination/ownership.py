"""Which domains belong to this worker, and how may it fetch from a host of another worker?

All URLs of a registrable domain have one owner at a time, so politeness and caps need no lock. Domains fall into shares
by hash. A share changes its owner as a whole, when the owner has more to do than another worker.

A worker fetches from a host of another worker only for a robots.txt that has moved there, under a loan of that host's
share. While the loan lasts, the owner begins no request to that share and closes its connections. The borrower waits
until every request of the owner must have ended, then makes its own. The loan ends after the host's delay, when the
share that needed the robots.txt gets another owner, or when it expires. The others know the expiry, so a loan ends even
if its borrower has died.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from periplus.crawl.coordination.coordination import Coordination
from periplus.fetch.client import Fetcher
from periplus.store.shares import share_of

_MIN_URLS = 20  # queued in a share that is given away
FAR_LESS = 0.5  # of the URLs queued here; a worker with more is given nothing
_MOST_AT_ONCE = 16  # shares that are given for their load
_MIN_PART = 0.1  # of the difference in load, unless the receiver is idle: it has to load the state of all hosts


def share_to_give(waiting: Counter[int], load: int, promised: int = 0) -> int | None:
    """Choose the share to give to a worker with *load* queued URLs; None: keep all.

    *waiting*: queued URLs by share, here. *promised*: queued URLs that the worker gets in other shares. Chosen is the
    largest share that leaves the receiver with no more than the giver. The largest of all is always kept: giving it
    away would only move the overload.
    """
    difference = waiting.total() - load - promised
    least = max(_MIN_URLS, _MIN_PART * difference) if load else _MIN_URLS
    return next((share for share, urls in waiting.most_common()[1:] if least <= urls <= difference / 2), None)


def shares_to_give(waiting: Counter[int], load: int) -> list[int]:
    """Choose the shares to give to a worker with *load* queued URLs; several while it has far less than this one."""
    left, given, promised = waiting.copy(), list[int](), 0
    while len(given) < _MOST_AT_ONCE and load + promised <= left.total() * FAR_LESS:
        share = share_to_give(left, load, promised)
        if share is None:
            break
        given.append(share)
        promised += left.pop(share)
    return given


class Ownership:
    """The shares of one worker."""

    def __init__(self, coordination: Coordination) -> None:
        self._coordination = coordination
        self._held: frozenset[int] = frozenset()  # owned shares whose state this worker has loaded
        self.leaving: frozenset[int] = frozenset()  # shares that are about to go to another worker
        self.is_sole_worker = coordination.is_sole_worker

    def owns(self, host: str) -> bool:
        """Whether this worker admits and fetches the URLs of a host."""
        return self.is_sole_worker or self.owns_share(share_of(host))

    def owns_share(self, share: int) -> bool:
        """Whether this worker receives the URLs forwarded to a share."""
        return share in self._held and share not in self.leaving

    def newly_owned(self) -> frozenset[int]:
        """The shares that this worker was given since the last call; their state is on disk."""
        mine = self._coordination.owned()
        if mine is self._held:
            return frozenset()
        new, self._held = mine - self._held, mine
        return new

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[int]:
        return iter(self._held)

    def hand_over(self, receiver: int) -> None:
        """Make another worker the owner of the leaving shares, whose state is on disk."""
        self._coordination.give(sorted(self.leaving), receiver)
        self._held -= self.leaving
        self.leaving = frozenset()


_RETRY_SECONDS = 0.5  # until a worker that waits for a loan tries again


@dataclass(slots=True)
class _Loan:
    """A share of another worker that this worker has borrowed."""

    since: float
    resting_until: float  # the end of the delay of a host that was fetched under an earlier loan
    wanted_by: set[int] = field(default_factory=set)  # shares whose robots.txt is in the borrowed share


class Loans:
    """Borrows shares for one worker, and respects the loans of the others."""

    def __init__(
        self, coordination: Coordination, ownership: Ownership, fetcher: Fetcher, patience: float, longest: float
    ) -> None:
        """*patience*: seconds after which any request under way has ended, and the delay of its host as well.

        *longest*: the longest delay of a host in seconds that a loan covers; the catalog keeps longer ones.
        """
        self._coordination, self._ownership, self._fetcher = coordination, ownership, fetcher
        self._patience, self._longest = patience, longest
        self._until_idle = coordination.loan_notice + patience  # seconds until the owner has no request under way
        self.duration = self._until_idle + patience + longest  # our request and the delay of the host come after that
        self._loans: dict[int, _Loan] = {}  # by share

    def blocked_until(self, host: str, now: float) -> float:
        """When to try a host again whose share another worker has borrowed; 0: no other worker has."""
        if self._coordination.borrower(share_of(host)) in (None, self._coordination.worker):
            return 0.0
        return now + _RETRY_SECONDS

    def borrow(self, host: str, now: float, *, wanted_by: str) -> float:
        """Borrow the share of *host*, which the host *wanted_by* needs; returns when this worker may fetch or retry."""
        share = share_of(host)
        if self._ownership.owns(host):
            self._end(share, 0.0)
            return now
        left, loan = self._coordination.loan_left(share), self._loans.get(share)
        if loan is None or not left:
            if not self._coordination.borrow(share, self.duration):
                return now + _RETRY_SECONDS
            loan = self._loans[share] = _Loan(now, now + left)
        elif left < self._patience:  # too short for a request and a delay; the owner has its turn before the next loan
            return now + left + 2 * _RETRY_SECONDS
        loan.wanted_by.add(share_of(wanted_by))
        return loan.since + self._until_idle

    def end(self, host: str, delay: float) -> None:
        """End the loan for a host; its owner may fetch from it after *delay* seconds."""
        if self._ownership.owns(host):
            self._end(share_of(host), 0.0)
        else:
            self._fetcher.disconnect([host])
            self._end(share_of(host), delay)

    def leave_shares(self, shares: Iterable[int], hosts: Iterable[str], now: float) -> None:
        """Close the connections of shares that go to another worker, and end the loans that only they need."""
        self._fetcher.disconnect(hosts)
        left = set(shares)
        for borrowed, loan in list(self._loans.items()):
            loan.wanted_by -= left
            if not loan.wanted_by:
                self._end(borrowed, loan.resting_until - now)

    def close_lent_connections(self) -> None:
        """Close the connections to hosts that other workers have borrowed."""
        if self._coordination.has_loans:
            self._coordination.remove_expired_loans()
            self._fetcher.disconnect([host for host in self._fetcher.connected if self.blocked_until(host, 0.0)])

    def _end(self, share: int, seconds: float) -> None:
        self._loans.pop(share, None)
        self._coordination.end_loan(share, min(max(seconds, 0.0), self._longest))
