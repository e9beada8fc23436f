"""Runs nodes of a fleet on this machine over a made web, and measures what they do together."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.machine import busy_seconds
from living.made_web import MadeWeb
from living.web_process import WebServer
from periplus.crawl.coordination.settings_sync import publish_settings
from periplus.model import Reason
from periplus.store.catalog.batch import ForwardedUrl
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.user_changes import UserChanges
from periplus.store.collection import Collection
from periplus.store.objects.open_store import open_store
from periplus.store.shares import share_of
from periplus.url import host_of

_NEARLY = 0.9  # of all cores
_STORE = "store"  # the folder that is the object store
_IDLE_DELAY = 1.0  # seconds between requests of a worker that mostly waits


@dataclass(frozen=True)
class Fleet:
    """What the nodes of all runs share."""

    web: MadeWeb
    server: WebServer
    folder: Path
    server_seconds: Callable[[], float]  # CPU time of the database
    timeout: float


def crawl(fleet: Fleet, database: str, workers: int, hosts: int | None = None, delay: float = 0.0) -> dict[str, Any]:
    """Lets *workers* nodes of one process each crawl the first *hosts* hosts, or the whole web."""
    hosts = fleet.web.hosts if hosts is None else hosts
    folder = Path(tempfile.mkdtemp(prefix=f"{workers}-workers-", dir=fleet.folder))
    (folder / _STORE).mkdir()
    _add_seeds(fleet, folder, database, hosts)
    start, spent, serving = fleet.server.size(), fleet.server_seconds(), fleet.server.program.cpu_seconds()
    began, busy = time.monotonic(), busy_seconds(range(os.cpu_count() or 1))
    nodes = [_start(fleet, folder, database, f"node{number}", delay) for number in range(workers)]
    cpu = [_wait(node, fleet.timeout) for node in nodes]
    spent, serving = fleet.server_seconds() - spent, fleet.server.program.cpu_seconds() - serving
    others = busy_seconds(range(os.cpu_count() or 1)) - busy - sum(cpu) - spent - serving
    passed = time.monotonic() - began
    requests, _ = fleet.server.requests(start)
    times = sorted(at for at, _ in requests)
    pages = hosts * fleet.web.pages
    if len(times) != pages or len({url for _, url in requests}) != pages:
        raise BenchError(f"{len(times)} requests for {pages} pages")
    _require_uploaded(folder, database, pages)
    seconds = max(times[-1] - times[0], 0.001)
    cores = (sum(cpu) + spent) / seconds
    return {
        "workers": workers,
        "pages": pages,
        "pages_per_second": round(pages / seconds, 1),
        "cpu_ms_per_page": round(sum(cpu) / pages * 1000, 3),
        "postgres_cpu_ms_per_page": round(spent / pages * 1000, 3),
        "postgres_cpu_share": round(spent / (sum(cpu) + spent), 3),
        "cores_used": round(cores, 2),
        "web_cpu_ms_per_page": round(serving / pages * 1000, 3),
        "other_cores": round(max(others, 0) / passed, 2),
        "run_seconds": round(passed, 2),
    }


def start_and_idle_costs(fleet: Fleet, new_database: Callable[[], str]) -> dict[str, float]:
    """CPU seconds of a start, and share of a core that a worker needs while it waits for its hosts."""
    short, long = (crawl(fleet, new_database(), 1, hosts=1, delay=delay) for delay in (0.0, _IDLE_DELAY))
    names = {"cpu": "cpu_ms_per_page", "postgres_cpu": "postgres_cpu_ms_per_page"}
    starts = {name: short[key] * short["pages"] / 1000 for name, key in names.items()}
    waited = max(long["run_seconds"] - short["run_seconds"], _IDLE_DELAY)
    idle = {name: max(long[key] * long["pages"] / 1000 - starts[name], 0.0) / waited for name, key in names.items()}
    return {f"start_{name}_s": round(value, 2) for name, value in starts.items()} | {
        f"idle_{name}_share": round(value, 4) for name, value in idle.items()
    }


def limit_of(run: dict[str, Any]) -> str:
    """What keeps a run from being faster."""
    if run["cores_used"] >= _NEARLY * (os.cpu_count() or 1) - 0.3:  # the server of the web needs a part of a core
        return "cores"
    busy = run["postgres_cpu_ms_per_page"] * run["pages_per_second"] / 1000
    return "postgres" if busy >= _NEARLY else "waiting"


def _add_seeds(fleet: Fleet, folder: Path, database: str, hosts: int) -> None:
    seeds = [ForwardedUrl(share_of(host_of(url)), url, 0, Reason.SEED, "", 0) for url in fleet.web.seeds()[:hosts]]
    collection = Collection(folder, database)
    publish_settings(collection, folder / "none.toml")
    with closing(open_catalog(collection, UserChanges)) as catalog:
        catalog.add_seeds(seeds, "cli")


def _require_uploaded(folder: Path, database: str, pages: int) -> None:
    """Raise an error unless the archive files and segments of all pages are in the object store."""
    with closing(open_catalog(Collection(folder, database), read_only=True)) as catalog:
        archives = {f"archive/{file.name}": file.committed for file in catalog.archives()}
        uploaded = sum(segment.rows for segment in catalog.segments("pages"))
    stored = {facts.name: facts.size for facts in open_store(f"file://{folder / _STORE}").list("archive")}
    if missing := archives.items() - stored.items():
        raise BenchError(f"{len(missing)} of {len(archives)} archive files are not uploaded")
    if uploaded != pages:
        raise BenchError(f"segments of {uploaded} pages are uploaded instead of {pages}")


def _start(fleet: Fleet, folder: Path, database: str, name: str, delay: float) -> subprocess.Popen[bytes]:
    settings = {
        "FLEET__DATABASE": database,
        "FLEET__STORAGE": f"file://{folder / _STORE}",
        "FLEET__NODE": name,
        "POLITENESS__DELAY": str(delay),
        "FETCH__ALLOW_PRIVATE": "true",
        "FETCH__CONNECT_TO": f"::127.0.0.1:{fleet.server.port}",
    }
    command = [str(Path(sys.executable).with_name("periplus")), "worker", "--until-done", "--home", str(folder / name)]
    environment = os.environ | {f"PERIPLUS_{key}": value for key, value in settings.items()}
    with (folder / f"{name}.log").open("wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)


def _wait(node: subprocess.Popen[bytes], timeout: float) -> float:
    """The CPU time of a node with all its processes."""
    latest = time.monotonic() + timeout
    while time.monotonic() < latest:
        pid, status, usage = os.wait4(node.pid, os.WNOHANG)
        if pid:
            node.returncode = os.waitstatus_to_exitcode(status)
            if node.returncode:
                raise BenchError(f"a node ended with {node.returncode}")
            return usage.ru_utime + usage.ru_stime
        time.sleep(0.05)
    node.kill()
    raise BenchError(f"a node was not done after {timeout:.0f} s")
