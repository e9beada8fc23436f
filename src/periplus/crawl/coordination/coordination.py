"""What do the workers of one crawl agree on, wherever they run?

`Coordination` is the port of one worker to all the others: who owns which share, how much of the budget is left, which
worker has nothing to do, which shares are lent. On one machine it is shared memory (`local_coordination.py`), in a
fleet rows of the database. The loop of a worker calls it, so no method waits for the network: a version with a database
answers from what it read last, and a thread of its own keeps that current.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from periplus.store.catalog.catalog import Catalog
from periplus.store.database.fleet import Peer


class Coordination(Protocol):
    """The port of one worker to the other workers of its crawl."""

    @property
    def worker(self) -> int:
        """The id of this worker; its files are named by it."""
        ...

    @property
    def is_sole_worker(self) -> bool:
        """Whether no other worker takes part, now or later: this worker owns every share."""
        ...

    @property
    def commits_in_order(self) -> bool:
        """Whether rows that another worker commits later have greater ids."""
        ...

    @property
    def has_lease(self) -> bool:
        """Whether this worker may send only until a lease expires; otherwise it may as long as it lives."""
        ...

    def may_send(self) -> bool:
        """Whether this worker may send requests now; False as soon as its lease may have expired."""
        ...

    def fence(self, catalog: Catalog) -> None:
        """Let every later transaction of a catalog fail when this worker has lost its lease."""
        ...

    def recovers(self, worker: int) -> bool:
        """Whether this worker continues the archive files of an earlier worker with this id."""
        ...

    def leave(self) -> None:
        """End with everything committed: the shares of this worker are free."""
        ...

    def close(self) -> None:
        """Let go of threads and connections; without `leave` the shares stay this worker's until its lease expires."""
        ...

    # -- ownership of shares ------------------------------------------------------------------------------------

    def owned(self) -> frozenset[int]:
        """The shares of this worker; the same object as long as they do not change."""
        ...

    def inherited(self) -> frozenset[int]:
        """Those of its shares whose last owner died: the last requests of that worker are not recorded."""
        ...

    def clear_inherited(self, shares: Collection[int]) -> None:
        """The last requests of the dead owners of these shares have ended; until then a later owner inherits, too."""
        ...

    def give(self, shares: Collection[int], receiver: int) -> None:
        """Make another worker the owner of shares whose state is committed."""
        ...

    # -- loans: a worker fetches a robots.txt from a host of another worker ---------------------------------------

    @property
    def loan_notice(self) -> float:
        """Seconds until the owner of a share knows for certain of a new loan."""
        ...

    @property
    def has_loans(self) -> bool:
        """Whether any share is lent, or its loan has expired and is not yet removed."""
        ...

    def borrower(self, share: int) -> int | None:
        """The worker that has borrowed a share; None without a loan, or when it has expired."""
        ...

    def loan_left(self, share: int) -> float:
        """Seconds until this worker's loan of a share expires; 0 when it has none."""
        ...

    def borrow(self, share: int, seconds: float) -> bool:
        """Borrow a share for *seconds*; False: another worker has, or the answer is not known yet. Ask again later."""
        ...

    def end_loan(self, share: int, seconds: float) -> None:
        """End this worker's loan of a share in *seconds*; does nothing when it has none."""
        ...

    def remove_expired_loans(self) -> None:
        """Remove the loans that have expired."""
        ...

    # -- load of the workers ------------------------------------------------------------------------------------

    def publish_load(self, backlog: int, *, is_underloaded: bool) -> None:
        """Tell the others how many URLs are queued here, and whether this worker is idle for most of its time."""
        ...

    def peers(self) -> list[Peer]:
        """The other live workers."""
        ...

    def promise(self, receiver: int) -> None:
        """A share is on its way to a worker: no other worker needs to give it one now."""
        ...

    # -- forwarded URLs and seeds -------------------------------------------------------------------------------

    def announce(self, forwarded: int, seeds: int) -> None:
        """So many URLs that this worker forwarded, and so many seeds, are committed: others look for them."""
        ...

    def announced(self) -> tuple[int, int]:
        """Numbers that change when any worker has forwarded URLs, and when any has added seeds."""
        ...

    # -- the budget ---------------------------------------------------------------------------------------------

    def claim_pages(self) -> int:
        """Claim a few pages of the budget; 0: none now."""
        ...

    @property
    def is_target_reached(self) -> bool:
        """Whether all nodes together have filled the collection up to the target; on one machine the budget has it."""
        ...

    def return_pages(self, pages: int) -> None:
        """Return claimed pages that were not fetched."""
        ...

    def publish_progress(self, fetched: int, size: int) -> None:
        """So many pages and bytes has this worker fetched in this run."""
        ...

    def totals(self) -> tuple[int, int]:
        """Pages and bytes that all workers of this node have fetched in this run."""
        ...

    # -- the end ------------------------------------------------------------------------------------------------

    def publish_idleness(self, shares: int, *, is_idle: bool) -> None:
        """Tell whether this worker has nothing to do and nothing to commit, and how many shares it has loaded."""
        ...

    def committed(self, pages: int) -> None:
        """A commit of this worker is durable; *pages*: how many fetched pages it acknowledges."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether no worker has anything left to do, and none can get anything from another."""
        ...
