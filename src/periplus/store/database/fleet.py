"""The records that a worker of a fleet exchanges with the database, and their port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol


class Identity(NamedTuple):
    """Which worker a process is."""

    worker: int
    token: int  # of this process; a later process of the same worker has another
    commits: int  # transactions of the worker so far
    announced: tuple[int, int]  # forwarded URLs and seeds of its earlier processes
    earlier: frozenset[int]  # ids of this node's workers whose archive files this worker continues


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """What a worker tells the others, and what it asks for."""

    backlog: int = 0  # queued URLs
    is_underloaded: bool = False
    loaded: int = 0  # shares
    idle_commits: int | None = None  # transactions made when the worker had nothing to do; None: it has
    forwarded: int = 0  # URLs and seeds that it has forwarded
    seeds: int = 0
    claimed: int = 0  # pages of the target that it may fetch and has not committed
    target: int | None = None  # asks for pages, up to this size of the collection
    wants_shares: bool = False
    may_revoke_leases: bool = False  # leases of silent workers: this worker itself was not cut off for a lease's time
    cleared: frozenset[int] = frozenset()  # inherited shares: the last requests of their dead owner have ended
    share_transfers: tuple[tuple[int, tuple[int, ...]], ...] = ()  # receiver, shares
    loans: Mapping[int, float] = field(default_factory=dict)  # share -> seconds that it is to be borrowed
    ended_loans: Mapping[int, float] = field(default_factory=dict)  # share -> seconds until the end


class Peer(NamedTuple):
    """A live worker, as others see it."""

    worker: int
    backlog: int  # queued URLs that it knows of
    is_underloaded: bool  # idle for more than half of its time
    shares: int  # how many it owns


@dataclass(frozen=True, slots=True)
class FleetView:
    """The state of the fleet after a heartbeat."""

    asked: float  # when the renewal was sent, by the clock of this process
    owned: frozenset[int]
    inherited: frozenset[int]
    loans: Mapping[int, tuple[int, float]]  # share -> worker, seconds left
    workers: tuple[Peer, ...]  # live ones, this worker included
    announced: tuple[int, int]  # forwarded URLs and seeds of all workers
    is_finished: bool
    granted: int = 0  # pages that this worker may fetch in addition
    stored: tuple[int, int] = (0, 0)  # pages and bytes of the collection


class Fleet(Protocol):
    """The rows through which workers agree; `store/database/postgres/fleet_rows.py` is the version with a database."""

    def join(self, number: int, workers: int) -> Identity:
        """Become worker *number* of *workers* on this node; an earlier process of the same worker is fenced off."""
        ...

    def heartbeat(self, me: Identity, heartbeat: Heartbeat) -> FleetView:
        """Renew the lease, tell and ask; raises `LeaseLost` when another worker has taken the lease."""
        ...

    def leave(self, me: Identity) -> None:
        """End the lease; the shares are free."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...
