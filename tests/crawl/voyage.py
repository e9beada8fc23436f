"""How does a test send the crawler out, and what does it look at afterwards?"""

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
from typing import Any
from unittest import mock

from pyarrow import parquet

from periplus.cli.main import run
from periplus.config import Settings, load
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Request, Result, crawl
from periplus.inspector.verify import Findings, verify
from periplus.store.catalog import Catalog
from periplus.store.collection import open_collection
from testweb import TestWeb

# A crawl of a test has no reason to wait, except where waiting is what is tested.
HASTE: dict[str, Any] = {
    "politeness.delay": 0.0,
    "fetch.retry_seconds": 0.05,
    "fetch.connect_timeout": 2.0,
    "fetch.timeout": 5.0,
    "store.commit_seconds": 0.05,
    "frontier.trap_fetches": 0,  # most pages of tests say next to nothing
}


@dataclass(frozen=True)
class Outcome:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What stdout holds, which must be one JSON object and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def complaint(self) -> str:
        """The one line on stderr that says what is wrong."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("periplus: "), self.err
        assert "internal error" not in lines[0], self.err
        return lines[0]


def settings_for(web: TestWeb | None, **flags: Any) -> Settings:
    """The settings of a quick crawl of a test web; `section__name` overrides one of them."""
    over = {key.replace("__", "."): value for key, value in flags.items()}
    there = {"fetch.allow_private": True, "fetch.connect_to": web.connect_to} if web else {}
    return load(Path("no-such-folder"), HASTE | there | over, {}).settings


def sail(web: TestWeb | None, home: Path, *seeds: str, budget: Budget | None = None, **flags: Any) -> Result:
    """Crawl in this process; `section__name` overrides a setting."""
    return crawl(Request(home, settings_for(web, **flags), seeds, budget or Budget()))


def reach(web: TestWeb) -> list[str]:
    """The options with which a command finds a test web."""
    return ["--allow-private", *(word for rule in web.connect_to for word in ("--connect-to", rule))]


def reach_by_name(web: TestWeb) -> list[str]:
    """Rules that lead to the port of a test web, but leave the names of its hosts to be looked up."""
    return [f":80::{web.http_port}"]


def environment(**settings: Any) -> dict[str, str]:
    """The environment of a child: quick settings, and none of those of whoever runs the tests."""
    bare = {name: value for name, value in os.environ.items() if not name.startswith("PERIPLUS_")}
    quick = {key.replace(".", "__"): value for key, value in HASTE.items()} | settings
    return bare | {"COLUMNS": "200"} | {f"PERIPLUS_{key.upper()}": str(value) for key, value in quick.items()}


def start(*arguments: str | Path, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.Popen[str]:
    """The command as a process of its own, still running."""
    return subprocess.Popen(
        [sys.executable, "-m", "periplus", *map(str, arguments)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        env=environment() if env is None else env,
        **{"stderr": subprocess.PIPE} | options,
    )


def wait(child: subprocess.Popen[str], timeout: float = 60) -> Outcome:
    """How a command that was started ends."""
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
    """Run the command in this process: as `periplus` does, but ten times sooner."""
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
    """Verify a collection; nothing may be wrong with it."""
    findings = verify(open_collection(home))
    assert not findings.problems, findings.problems
    return findings


@contextmanager
def catalog_of(home: Path) -> Iterator[Catalog]:
    """The catalog of a collection that nobody is crawling."""
    catalog = Catalog(open_collection(home).catalog)
    try:
        yield catalog
    finally:
        catalog.close()


def state_of(home: Path, url: str) -> tuple[int, str]:
    """Where a URL stands and why."""
    with catalog_of(home) as catalog:
        row = catalog.url(url)
    assert row is not None, f"{url} is unknown"
    return row["state"], row["reason"]


def detail_of(home: Path, url: str) -> str:
    """The words with which a URL was decided upon."""
    with catalog_of(home) as catalog:
        row = catalog.url(url)
    assert row is not None, f"{url} is unknown"
    return str(row["detail"])


def segment_rows(home: Path, kind: str) -> list[dict[str, Any]]:
    """The rows of every live segment of a kind."""
    with catalog_of(home) as catalog:
        names = [segment.name for segment in catalog.segments(kind)]
    return [row for name in names for row in parquet.read_table(home / "segments" / name).to_pylist()]
