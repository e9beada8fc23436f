"""Helpers for tests that crawl: run a crawl or a command, then check the collection."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from unittest import mock

from pyarrow import parquet

from periplus.cli.main import run
from periplus.config import Settings, load
from periplus.crawl.assignment import Assignment, Budget, RecrawlPolicy, WorkerContext
from periplus.crawl.clock import Clock, SteadyClock
from periplus.crawl.coordination.local_coordination import LocalCoordination
from periplus.crawl.coordination.shared_state import SharedState
from periplus.crawl.run import Request, Result, crawl
from periplus.fetch.ip_limits import AddressTable
from periplus.frontier.queues import Queues
from periplus.inspector.verify import Findings, verify
from periplus.model import QueuedUrl
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import RunCounters
from periplus.store.collection import Collection, open_collection
from testweb import TestWeb

# Short delays and timeouts, except where a test measures them.
QUICK: dict[str, Any] = {
    "politeness.delay": 0.0,
    "fetch.retry_seconds": 0.05,
    "fetch.connect_timeout": 2.0,
    "fetch.timeout": 5.0,
    "store.commit_seconds": 0.05,
    "frontier.trap_fetches": 0,  # most pages of tests have next to no text
}


@dataclass(frozen=True)
class Outcome:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The JSON object on stdout; there must be nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def complaint(self) -> str:
        """The error message: the only line on stderr."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("periplus: "), self.err
        assert "internal error" not in lines[0], self.err
        return lines[0]


def settings_for(web: TestWeb | None, **flags: Any) -> Settings:
    """The settings of a quick crawl of a test web; `section__name` overrides one of them."""
    over = {key.replace("__", "."): value for key, value in flags.items()}
    there = {"fetch.allow_private": True, "fetch.connect_to": web.connect_to} if web else {}
    return load(Path("no-such-folder"), QUICK | there | over, {}).settings


def run_crawl(web: TestWeb | None, home: Path, *seeds: str, budget: Budget | None = None, **flags: Any) -> Result:
    """Crawl in this process; `section__name` overrides a setting."""
    return crawl(Request(home, settings_for(web, **flags), seeds, budget or Budget()))


def assignment_for(
    settings: Settings, collection: Collection, workers: int = 1, run_id: int = 1, clock: Clock | None = None
) -> Assignment:
    """The assignment of a worker without seeds and limits."""
    clock = clock or SteadyClock()
    return Assignment(
        collection,
        settings,
        run_id,
        clock.now(),
        (),
        (),
        (),
        hold=False,
        budget=Budget(),
        after_kill=False,
        recrawl=RecrawlPolicy(),
        clock=clock,
        addresses=AddressTable(settings.politeness, workers),
    )


class NoQueue:
    """A catalog without queued URLs."""

    def queue_of(self, host: str, limit: int, now: float) -> list[QueuedUrl]:
        return []

    def next_due(self, host: str, now: float) -> float | None:
        return None


def context_for(settings: Settings, shared: SharedState) -> WorkerContext:
    """The context of a worker for parts that use no file and no catalog."""
    collection, catalog = Collection(Path("no-such-folder")), cast("Catalog", None)
    queues, counters = Queues(NoQueue(), 1000), RunCounters(1, 0.0)
    coordination = LocalCoordination(shared, 0)
    return WorkerContext(0, assignment_for(settings, collection), shared, coordination, catalog, queues, counters)


def reach(web: TestWeb) -> list[str]:
    """The options that connect a command to a test web."""
    return ["--allow-private", *(word for rule in web.connect_to for word in ("--connect-to", rule))]


def reach_by_name(web: TestWeb) -> list[str]:
    """Rules that connect to the port of a test web, with host names resolved as usual."""
    return [f":80::{web.http_port}"]


def environment(**settings: Any) -> dict[str, str]:
    """The environment of a child process: quick settings, without the user's own PERIPLUS_ variables."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PERIPLUS_")}
    quick = {key.replace(".", "__"): value for key, value in QUICK.items()} | settings
    return bare | {"COLUMNS": "200"} | {f"PERIPLUS_{key.upper()}": str(value) for key, value in quick.items()}


def start(*arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """Start the command in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "periplus", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=environment() if env is None else env,
        **{"stderr": subprocess.PIPE} | options,
    )


def wait(child: subprocess.Popen[str], timeout: float = 60) -> Outcome:
    """Wait for a command that was started."""
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise
    return Outcome(child.returncode, out, err)


def periplus(
    *arguments: str | Path, env: Mapping[str, str] | None = None, timeout: float = 60, **options: Any
) -> Outcome:
    """Run the command to its end."""
    return wait(start(*arguments, env=env, **options), timeout)


def typed(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Outcome:
    """Run the command in this process: like `periplus`, but 10 times faster."""
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.dict(os.environ, environment() if env is None else env, clear=True),
        mock.patch.object(sys, "argv", ["periplus", *map(str, arguments)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            run()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    return Outcome(code, out.getvalue(), err.getvalue())


def sound(home: Path) -> Findings:
    """Verify a collection, and assert that it has no problem."""
    findings = verify(open_collection(home))
    assert not findings.problems, findings.problems
    return findings


@contextmanager
def catalog_of(home: Path) -> Iterator[Catalog]:
    """The catalog of a collection that is not being crawled."""
    catalog = open_catalog(open_collection(home))
    try:
        yield catalog
    finally:
        catalog.close()


def state_of(home: Path, url: str) -> tuple[int, str]:
    """The state of a URL and its reason code."""
    with catalog_of(home) as catalog:
        row = catalog.url(url)
    assert row is not None, f"{url} is unknown"
    return row["state"], row["reason"]


def detail_of(home: Path, url: str) -> str:
    """The detail of the decision for a URL."""
    with catalog_of(home) as catalog:
        row = catalog.url(url)
    assert row is not None, f"{url} is unknown"
    return str(row["detail"])


def segment_rows(home: Path, kind: str) -> list[dict[str, Any]]:
    """The rows of all live segments of a kind."""
    with catalog_of(home) as catalog:
        names = [segment.name for segment in catalog.segments(kind)]
    return [row for name in names for row in parquet.read_table(home / "segments" / name).to_pylist()]
