"""Sends requests from many clients, each of which waits for its answer before it sends the next request.

wrk does that with little CPU time. Where wrk cannot be had, and to tell refused requests apart, asyncio does it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import uvloop

from harness import packages
from harness.errors import BenchError
from serving.site import Served

TIMEOUT = 10  # seconds until a request without an answer counts as a timeout
_PACKAGES = ("wrk", "libluajit-5.1-2", "libluajit-5.1-common")
_SCRIPT = Path(__file__).with_name("requests.lua")
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)")
Figures = dict[str, Any]


@dataclass(frozen=True)
class Workload:
    """The paths of all searches, and the order in which they are requested, as line numbers from 1."""

    paths: Sequence[str]
    order: Sequence[int]
    folder: Path

    def write(self) -> list[str]:
        """Writes the files for wrk."""
        files = {self.folder / "paths": self.paths, self.folder / "order": map(str, self.order)}
        for file, lines in files.items():
            file.write_text("".join(f"{line}\n" for line in lines))
        return [str(file) for file in files]


def find_wrk(cache: Path, *, download: bool) -> list[str]:
    """The command that runs wrk; empty when there is none."""
    if shutil.which("wrk"):
        return ["wrk"]
    if not download:
        return []
    try:
        folders = packages.unpack(_PACKAGES, cache)
    except BenchError as problem:
        print(f"without wrk: {problem}", file=sys.stderr)
        return []
    libraries = os.pathsep.join(str(path.parent) for path in folders["libluajit-5.1-2"].rglob("libluajit*.so*"))
    return ["env", f"LD_LIBRARY_PATH={libraries}", str(folders["wrk"] / "usr/bin/wrk")]


def load(wrk: list[str], site: Served, work: Workload, clients: int, seconds: float) -> Figures:
    """The figures of a run with so many clients."""
    if not wrk:
        return uvloop.run(_load(site, work, clients, seconds))
    options = [f"-t{min(clients, 2)}", f"-c{clients}", f"-d{max(round(seconds), 1)}s", f"--timeout={TIMEOUT}s"]
    url = f"http://{site.host}:{site.port}"
    command = [*wrk, *options, "-s", str(_SCRIPT), url, "--", *work.write()]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 60)
    found = re.search(r"^result (.*)$", ran.stdout, re.MULTILINE)
    if not found:
        raise BenchError(f"wrk has failed: {ran.stderr.strip()[-300:]}")
    return _summary(clients, json.loads(found[1]))


def _summary(clients: int, measured: Figures) -> Figures:
    requests, refused = measured["requests"], measured.pop("refused")
    qps = round((requests - refused) / measured.pop("seconds"))
    rounded = {name: round(value, 4) for name, value in measured.items() if name.endswith("_s")}
    errors = measured["errors"] + refused
    return (
        {"clients": clients, "requests": requests, "errors": errors, "timeouts": measured["timeouts"]}
        | rounded
        | {"cached_qps": qps}
    )


# -- clients in this process --------------------------------------------------------------------------------------


@dataclass
class _Seen:
    times: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)  # the times of answers 503
    errors: int = 0
    timeouts: int = 0


async def _load(site: Served, work: Workload, clients: int, seconds: float) -> Figures:
    seen, turn = _Seen(), iter(range(10**9))
    deadline = time.perf_counter() + seconds

    def next_path() -> str | None:
        done = time.perf_counter() > deadline
        return None if done else work.paths[work.order[next(turn) % len(work.order)] - 1]

    await asyncio.gather(*(_client(site, next_path, seen) for _ in range(clients)))
    return _summary(clients, _figures(seen, seconds))


def _figures(seen: _Seen, seconds: float) -> Figures:
    times = seen.times + seen.refused or [0.0]
    middle, last = np.percentile(times, (50, 99)).tolist()
    return {
        "requests": len(times),
        "seconds": seconds,
        "refused": len(seen.refused),
        "errors": seen.errors,
        "timeouts": seen.timeouts,
        "mean_s": float(np.mean(times)),
        "p50_s": middle,
        "p99_s": last,
    }


async def _client(site: Served, next_path: Callable[[], str | None], seen: _Seen, pause: float = 0.0) -> None:
    """One client: requests paths on one connection until there are no more; waits *pause* seconds after a 503."""
    try:
        reader, writer = await asyncio.open_connection(site.host, site.port)
    except OSError:
        seen.errors += 1
        return
    while (path := next_path()) is not None:
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(TIMEOUT):
                status = await _request(reader, writer, path)
        except TimeoutError:
            seen.timeouts += 1
            break
        except (OSError, asyncio.IncompleteReadError):
            seen.errors += 1
            break
        spent = time.perf_counter() - begun
        (seen.refused if status == 503 else seen.times).append(spent)
        seen.errors += status not in {200, 503}
        if status == 503:
            await asyncio.sleep(pause)
    writer.close()


async def _request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> int:
    writer.write(f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode())
    head = await reader.readuntil(b"\r\n\r\n")
    length = _LENGTH.search(head)
    await reader.readexactly(int(length[1]) if length else 0)
    return int(head[9:12])


def once(site: Served, paths: Sequence[str], clients: int) -> float:
    """Requests every path once; returns the seconds that took."""
    remaining, seen = iter(paths), _Seen()
    begun = time.perf_counter()

    async def run() -> None:
        await asyncio.gather(*(_client(site, lambda: next(remaining, None), seen) for _ in range(clients)))

    uvloop.run(run())
    if seen.errors or seen.timeouts:
        raise BenchError(f"{seen.errors} errors and {seen.timeouts} timeouts in the warm-up")
    return time.perf_counter() - begun


def overload(site: Served, paths: Sequence[str], clients: int, seconds: float) -> Figures:
    """Many clients whose searches are in no cache: how many are answered, and how soon are the others refused?

    A client that is refused waits for a second, as Retry-After says at least.
    """
    deadline, turn, seen = time.perf_counter() + seconds, _endless(paths), _Seen()

    async def run() -> None:
        def next_path() -> str | None:
            return None if time.perf_counter() > deadline else next(turn)

        await asyncio.gather(*(_client(site, next_path, seen, pause=1.0) for _ in range(clients)))

    uvloop.run(run())
    soon, late = np.percentile(seen.refused or [0.0], (50, 99)).tolist()
    return {
        "clients": clients,
        "answered": len(seen.times),
        "refused": len(seen.refused),
        "errors": seen.errors,
        "timeouts": seen.timeouts,
        "longest_s": round(max(seen.times, default=0.0), 3),
        "refused_p50_s": round(soon, 4),
        "refused_p99_s": round(late, 4),
    }


def _endless(paths: Sequence[str]) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{paths[number % len(paths)]}&page={1 + number // len(paths)}"
