"""What can happen to a fleet while it crawls, and what must be true afterwards."""

from __future__ import annotations

import logging
import signal
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from fleet.local_fleet import LocalFleet, fetched_twice, impolite, requests_by_host, sent_without_owning, wait_until
from fleet.test_storage import everything_is_stored
from postgres_server import PostgresServer
from testweb import TestWeb

logger = logging.getLogger(__name__)

AT_ONCE = 400  # requests that a node may lose when it is killed: those under way, and those of one commit interval

Fault = Callable[[LocalFleet, str, PostgresServer], None]


def kill(fleet: LocalFleet, name: str, _server: PostgresServer) -> None:
    """A node is killed, and starts again at once."""
    fleet.signal(name, signal.SIGKILL)
    fleet.nodes[name].communicate()
    fleet.start(name)


def pause(fleet: LocalFleet, name: str, _server: PostgresServer) -> None:
    """A node stands still until others have taken its hosts, and wakes up."""
    fleet.signal(name, signal.SIGSTOP)
    owned = f"SELECT count(*) FROM shares JOIN fleet_workers ON owner = worker_id WHERE node = '{name}'"
    wait_until(lambda: fleet.rows(owned) == [(0,)])
    time.sleep(fleet.delay)
    fleet.signal(name, signal.SIGCONT)


def restart(_fleet: LocalFleet, _name: str, server: PostgresServer) -> None:
    """The database is restarted."""
    server.stop(signal.SIGINT)
    time.sleep(1.0)
    server.start()


def crash(fleet: LocalFleet, _name: str, server: PostgresServer) -> None:
    """The database crashes, and is away for longer than a lease."""
    server.stop(signal.SIGQUIT)
    time.sleep(fleet.lease + 1.0)
    server.start()


def started_anew(fleet: LocalFleet, name: str) -> bool:
    """Whether a node lost its lease, and has taken another: each changes the fencing token."""
    [(token,)] = fleet.rows(f"SELECT token FROM fleet_workers WHERE node = '{name}'")
    return int(token) >= 3


def changes_of_owner(web: TestWeb) -> Counter[int]:
    """How many hosts changed their owner how often, by the names that the nodes send."""
    changes: Counter[int] = Counter()
    for entries in requests_by_host(web).values():
        pages = [entry for entry in entries if entry.path != "/robots.txt"]
        changes[sum(one.user_agent != other.user_agent for one, other in pairwise(pages))] += 1
    return changes


def complete(web: TestWeb, fleet: LocalFleet, bucket: str, pages: int, losses: int) -> None:
    """Everything is fetched, acknowledged once and stored; nothing was asked for twice that was acknowledged."""
    again, changes = fetched_twice(web), changes_of_owner(web)
    logger.warning("%d requests, %d repeated; changes of owner: %s", len(web.log.entries()), again.total(), changes)
    assert impolite(web, fleet.delay) == []
    assert sent_without_owning(web, fleet) == []
    assert fleet.rows("SELECT url FROM fetches WHERE verdict = 'fetched' GROUP BY url HAVING count(*) > 1") == []
    assert again.total() <= losses * AT_ONCE
    assert fleet.rows("SELECT count(*) FROM inbox") == [(0,)]
    everything_is_stored(fleet, bucket, pages)
