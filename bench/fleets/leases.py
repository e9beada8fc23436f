"""Measures how long a worker of a fleet waits for the renewal of its lease, while others write."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from multiprocessing.connection import Connection

from periplus.store.database.fleet import Heartbeat
from periplus.store.database.postgres.fleet_rows import FleetRows

_PAUSE = 0.05  # seconds between two exchanges; a worker makes one a second
_LEASE = 20.0  # seconds
_PEER_LEASE = 600.0  # seconds: no lease ends while the costs are measured


@contextmanager
def timed_leases(database: str) -> Iterator[list[float]]:
    """Exchanges messages as a worker does until the block ends; the list then has the seconds of each exchange."""
    found: list[float] = []
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=_exchange, args=(database, theirs))
    process.start()
    ours.recv()  # it has joined
    try:
        yield found
        ours.send("end")
        found += ours.recv()
    finally:
        process.join(10)
        process.kill()


def _exchange(database: str, pipe: Connection) -> None:
    with closing(FleetRows(database, "meter", "meter", _LEASE, time.monotonic)) as rows:
        me = rows.join(0, 1)
        pipe.send("joined")
        seconds = []
        while not pipe.poll(_PAUSE):
            began = time.perf_counter()
            rows.heartbeat(me, Heartbeat(wants_shares=True, may_revoke_leases=True))
            seconds.append(time.perf_counter() - began)
        rows.leave(me)
        pipe.send(seconds)


def lease_cost(database: str, peers: int, exchanges: int, server_seconds: Callable[[], float]) -> float:
    """CPU milliseconds of the server for an exchange, while *peers* other workers hold leases."""
    for number in range(peers):
        with closing(FleetRows(database, f"peer{number}", f"peer{number}", _PEER_LEASE, time.monotonic)) as rows:
            rows.heartbeat(rows.join(0, 1), Heartbeat())
    with closing(FleetRows(database, "meter", "meter", _PEER_LEASE, time.monotonic)) as rows:
        me = rows.join(0, 1)
        rows.heartbeat(me, Heartbeat(wants_shares=True))
        before = server_seconds()
        for _ in range(exchanges):
            rows.heartbeat(me, Heartbeat(wants_shares=True))
        spent = server_seconds() - before
        rows.leave(me)
    return round(spent / exchanges * 1000, 3)


def percentile(seconds: list[float], share: float) -> float:
    """The smallest time that is not exceeded by a share of the times; in milliseconds."""
    ordered = sorted(seconds)
    return round(ordered[min(int(len(ordered) * share), len(ordered) - 1)] * 1000, 1) if ordered else 0.0
