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
from periplus.crawl.settings_sync import publish_settings
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.postgres.database import PostgresDatabase
from testweb import TestWeb
from testweb.log import Entry

DELAY = 0.2  # seconds between two requests to a host
LEASE = 3.0  # seconds


class Crew:
    """Nodes that crawl one web into one database."""

    def __init__(self, folder: Path, url: str, web: TestWeb, **settings: Any) -> None:
        self.folder, self.url, self._web = folder, url, web
        self._settings = {
            "fleet__lease_seconds": LEASE,
            "politeness__delay": DELAY,
            "fetch__allow_private": "true",
            "fetch__connect_to": ",".join(web.connect_to),
            "fetch__timeout": 2.0,
            "scope__hosts": r".*\.test",
        } | settings
        self.nodes: dict[str, subprocess.Popen[str]] = {}

    def seed(self, seed: str) -> None:
        """Create the tables, publish settings, and add a seed before any node crawls."""
        from periplus.model import Reason
        from periplus.store.batch import ForwardedUrl
        from periplus.store.shares import share_of
        from periplus.store.user_changes import UserChanges
        from periplus.url import host_of

        publish_settings(Collection(self.folder, self.url), self.folder / "periplus.toml")  # none: nodes use defaults
        with closing(UserChanges(PostgresDatabase(self.url))) as catalog:
            catalog.add_seeds([ForwardedUrl(share_of(host_of(seed)), seed, 0, Reason.SEED, "", 0)], "cli")

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
        fleet = {"fleet__database": self.url, "fleet__node": name, "identity__contact": contact(name)}
        return environment(**self._settings, **fleet)

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


def fetched_twice(web: TestWeb) -> Counter[str]:
    """URLs that were requested more than once, with the number of further requests."""
    return Counter({url: number - 1 for url, number in web.log.fetched().items() if number > 1})
