"""How may a worker ask a host that is another worker's?

Once, for a robots.txt that has moved there. It borrows the share of the web that the host falls into: from then on its
owner begins no request there and closes its connections. What the owner had under way is over after the longest time
that a request may take; only then does the borrower ask. The share goes back when the host has had its rest.
"""

from __future__ import annotations

import asyncio

from periplus.crawl.board import SHARES, Board
from periplus.crawl.territory import Territory, share_of
from periplus.fetch.client import Fetcher

_LOOK_AGAIN = 0.5  # seconds until somebody who has to wait looks again


class Loans:
    """One worker's dealings with shares that are lent and borrowed."""

    def __init__(
        self, board: Board, worker: int, territory: Territory, fetcher: Fetcher, patience: float, longest: float
    ) -> None:
        """*patience*: seconds after which a request that was under way is over, and its host has had its rest.

        *longest*: seconds that a host may rest before its share goes back; the catalog tells of longer ones.
        """
        self._board, self._worker, self._territory, self._fetcher = board, worker, territory, fetcher
        self._patience, self._longest = patience, longest
        self._since: dict[int, float] = {}  # when a share was borrowed
        for share in range(SHARES):
            if board.borrower(share) == worker:  # by the one whose place this worker takes
                self._give_back_after(share, patience)

    def lent(self, host: str, now: float) -> float:
        """Until when a host of ours must wait because its share is lent, at least; 0: it is not."""
        if not self._board.loans or self._board.borrower(share_of(host)) in (None, self._worker):
            return 0.0
        return now + _LOOK_AGAIN

    def borrow(self, host: str, now: float) -> float:
        """From when on a host, ours or another worker's, may be asked by us."""
        share = share_of(host)
        if self._territory.owns(host):
            self._board.give_back(share, self._worker)
            return now
        if not self._board.borrow(share, self._worker):
            return now + _LOOK_AGAIN
        return self._since.setdefault(share, now) + self._patience

    def give_back(self, host: str, rest: float) -> None:
        """We have asked a host, or will not; it rests for so many seconds before its owner may ask it again."""
        if not self._territory.owns(host):
            self._fetcher.hang_up([host])
            self._give_back_after(share_of(host), rest)

    def attend(self) -> None:
        """Close the connections to hosts that are lent."""
        if self._board.loans:
            lent = [host for host in self._fetcher.connected if self.lent(host, 0.0)]
            self._fetcher.hang_up(lent)

    def _give_back_after(self, share: int, seconds: float) -> None:
        self._since.pop(share, None)
        asyncio.get_running_loop().call_later(
            min(max(seconds, 0.0), self._longest), self._board.give_back, share, self._worker
        )
