"""Several nodes of a fleet on one machine: each has a folder, a name and processes of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

from crawl.crawling import environment, start
from periplus.crawl.coordination.settings_sync import publish_settings
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.database.postgres.database import PostgresDatabase
from periplus.store.shares import share_of
from testweb import TestWeb
from testweb.log import Entry

DELAY = 0.2  # seconds between two requests to a host
LEASE = 3.0  # seconds
_LATE = 1.0  # seconds that a busy machine may take from the look at the lease to the arrival of the request
_LOG_OWNERS = """
CREATE TABLE owner_log (share BIGINT, owner BIGINT, at TIMESTAMPTZ DEFAULT clock_timestamp());
CREATE FUNCTION log_owner() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO owner_log VALUES (new.share, new.owner); RETURN NULL; END';
CREATE TRIGGER log_owner AFTER UPDATE OF owner ON shares FOR EACH ROW EXECUTE FUNCTION log_owner()
"""


class LocalFleet:
    """Nodes that crawl one web into one database."""

    def __init__(self, folder: Path, url: str, web: TestWeb, **settings: Any) -> None:
        self.folder, self.url, self._web = folder, url, web
        self._settings: dict[str, Any] = {
            "fleet__lease_seconds": LEASE,
            "politeness__delay": DELAY,
            "fetch__allow_private": "true",
            "fetch__connect_to": ",".join(web.connect_to),
            "fetch__timeout": 2.0,
            "scope__hosts": r".*\.test",
            **settings,
        }
        self.delay = float(self._settings["politeness__delay"])
        self.lease = float(self._settings["fleet__lease_seconds"])
        self.nodes: dict[str, subprocess.Popen[str]] = {}

    def seed(self, seed: str) -> None:
        """Create the tables, publish settings, and add a seed before any node crawls."""
        from periplus.model import Reason
        from periplus.store.catalog.batch import ForwardedUrl
        from periplus.store.catalog.user_changes import UserChanges
        from periplus.url import host_of

        publish_settings(Collection(self.folder, self.url), self.folder / "periplus.toml")  # none: nodes use defaults
        with closing(UserChanges(PostgresDatabase(self.url))) as catalog:
            catalog.add_seeds([ForwardedUrl(share_of(host_of(seed)), seed, 0, Reason.SEED, "", 0)], "cli")

    def log_owners(self) -> None:
        """Let the database record every change of an owner, for `sent_without_owning`."""
        import psycopg

        with psycopg.connect(self.url, options="-c search_path=periplus") as connection:
            connection.execute(_LOG_OWNERS)

    def start(self, *names: str, workers: int = 1, until_done: bool = True, options: Sequence[str] = ()) -> None:
        """Start nodes."""
        if until_done:
            options = ["--until-done", *options]
        for name in names:
            with (self.folder / f"{name}.log").open("w") as log:
                self.nodes[name] = start(
                    *("worker", "--database", self.url, "--home", self.folder / name, "--name", name),
                    *("--workers", str(workers), *options),
                    env=self.environment(name),
                    start_new_session=True,
                    stderr=log,
                )

    def environment(self, name: str) -> dict[str, str]:
        """The environment of a node."""
        shared = {"fleet__database": self.url, "fleet__node": name, "identity__contact": contact(name)}
        return environment(**self._settings, **shared)

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal to all processes of a node."""
        os.killpg(self.nodes[name].pid, number)

    def wait(self, *names: str, timeout: float = 120.0) -> dict[str, int]:
        """The exit codes of nodes."""
        return {name: self.nodes[name].wait(timeout) for name in names or self.nodes}

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def close(self) -> None:
        for node in self.nodes.values():
            if node.poll() is None:
                os.killpg(node.pid, signal.SIGCONT)
                os.killpg(node.pid, signal.SIGKILL)
            node.communicate()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Rows of the database."""
        import psycopg

        with psycopg.connect(self.url, options="-c search_path=periplus") as connection:
            return connection.execute(statement.encode()).fetchall()

    def fetched(self) -> set[str]:
        """The URLs that are acknowledged."""
        return {url for (url,) in self.rows("SELECT url FROM urls WHERE state = 1")}

    def counters(self) -> dict[str, int]:
        with closing(Catalog(PostgresDatabase(self.url, read_only=True))) as catalog:
            return catalog.counters()


def wait_until(is_true: Callable[[], bool], timeout: float = 60.0) -> None:
    """Wait for a condition."""
    latest = time.monotonic() + timeout
    while not is_true():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.05)


def contact(node: str) -> str:
    """The address in the User-Agent of a node: the request log tells who has sent a request."""
    return f"https://example.org/{node}"


def requests_by_host(web: TestWeb) -> dict[str, list[Entry]]:
    """The requests to every host, in order of arrival."""
    found: dict[str, list[Entry]] = {}
    for entry in web.log.entries():
        found.setdefault(entry.host, []).append(entry)
    return found


def impolite(web: TestWeb, delay: float = DELAY) -> list[str]:
    """Requests that were sent to a host while it answered another one, or before its delay was over."""
    return [
        f"{host}: {later.started - earlier.started:.3f} s, {earlier.user_agent} and {later.user_agent}"
        for host, entries in requests_by_host(web).items()
        for earlier, later in pairwise(entries)
        if later.started - earlier.started < delay - 0.01
        or earlier.finished is None
        or later.started < earlier.finished
    ]


def sent_without_owning(web: TestWeb, fleet: LocalFleet) -> list[str]:
    """Requests for pages of a host that another node owned when they arrived; `log_owners` was called before.

    A node may fetch a robots.txt of a host that it does not own, under a loan.
    """
    to_epoch = time.time() - time.monotonic()
    nodes = dict(fleet.rows("SELECT worker_id, node FROM fleet_workers"))
    owners: dict[int, list[tuple[float, str | None]]] = {}  # by share: since when it had which owner
    for share, owner, at in fleet.rows(
        "SELECT share, owner, extract(epoch FROM at)::float8 FROM owner_log ORDER BY at"
    ):
        owners.setdefault(share, []).append((at, nodes.get(owner)))
    found = []
    for host, entries in requests_by_host(web).items():
        changes = owners[share_of(host)]
        for entry in entries:
            at = entry.started + to_epoch
            near = {owner for since, owner in changes if at - _LATE < since <= at}
            before = [owner for since, owner in changes if since <= at - _LATE]
            allowed = {contact(owner) for owner in {*near, *before[-1:]} if owner is not None}
            if entry.path != "/robots.txt" and not any(name in entry.user_agent for name in allowed):
                found.append(f"{entry.url} at {at:.3f} by {entry.user_agent}; owners: {changes}")
    return found


def fetched_twice(web: TestWeb) -> Counter[str]:
    """URLs that were requested more than once, with the number of further requests."""
    return Counter({url: number - 1 for url, number in web.log.fetched().items() if number > 1})
