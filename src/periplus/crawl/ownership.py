"""Which domains belong to this worker?

All URLs of a registrable domain have one owner at a time, so politeness and caps need no lock. Domains fall into shares
by hash; a share changes hands as a whole, when its owner has more to do than another worker.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache

import xxhash

from periplus.crawl.shared_state import SHARES, Board
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


class Territory:
    """The shares of one worker."""

    def __init__(self, board: Board, worker: int) -> None:
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
