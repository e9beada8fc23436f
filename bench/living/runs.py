"""Runs `periplus up` beside a steady load of searches, and measures what a reader would notice."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from living.made_web import MadeWeb
from living.readers import Readers
from living.web_process import WebServer

WARM_UP = 10.0  # seconds of a polite run that are not counted: a crawl starts with one page of every host
_STOP_SECONDS = 300.0
_LESS = 5  # searches cost CPU time, which is compared with that of crawl, reparse and index: the fast run has fewer


@dataclass(frozen=True)
class Bench:
    """What all runs share."""

    web: MadeWeb
    server: WebServer
    folder: Path
    seconds: float
    rate: float  # searches per second
    timeout: float

    @property
    def cores(self) -> list[int]:
        """All cores: everything shares them."""
        return sorted(os.sched_getaffinity(0))

    def command(self, name: str, home: Path, *options: str) -> list[str]:
        """A command of ours."""
        return [str(Path(sys.executable).with_name("periplus")), name, "--home", str(home), *options]

    def crawl(self, name: str, home: Path) -> list[str]:
        """`crawl` or `up` over the whole web."""
        seeds = self.folder / "seeds.txt"
        seeds.write_text("".join(f"{seed}\n" for seed in self.web.seeds()))
        options = ["--seeds", str(seeds), "--connect-to", f"::127.0.0.1:{self.server.port}", "--allow-private"]
        return self.command(name, home, *options)


def up_until_searchable(bench: Bench) -> dict[str, Any]:
    """Crawl at delay 0 until every page can be searched."""
    pages = bench.web.hosts * bench.web.pages
    slow = replace(bench, rate=bench.rate / _LESS)
    return _up(slow, "fast", ["--delay", "0"], lambda readers, _: readers.documents >= pages)


def up_while_polite(bench: Bench) -> dict[str, Any]:
    """Crawl at the default delay for some time."""
    return _up(bench, "polite", [], lambda _, seconds: seconds >= bench.seconds)


def _up(bench: Bench, name: str, options: Sequence[str], is_over: Callable[[Readers, float], bool]) -> dict[str, Any]:
    port, start, began = _free_port(), bench.server.size(), time.time()
    command = [*bench.crawl("up", bench.folder / name), *options, "--port", str(port), "--json"]
    with (bench.folder / f"{name}.out").open("wb") as out, (bench.folder / f"{name}.err").open("wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        readers = Readers(bench.web, bench.server, port, bench.rate, start)
        try:
            readers.start()
            while process.poll() is None and not is_over(readers, time.time() - began):
                if time.time() - began > bench.timeout:
                    raise BenchError(f"{name}: not over after {bench.timeout:.0f} s ({readers.documents} documents)")
                time.sleep(0.2)
            ended = time.time()
        finally:
            readers.stop()
            cpu = _stopped(process)
    requests, _ = bench.server.requests(start)
    summary = _summary(bench.folder / f"{name}.out", bench.folder / f"{name}.err")
    return {
        **readers.figures(began),
        "rate": pages_per_second(requests, began + WARM_UP),
        "seconds": round(ended - began, 1),
        "cpu_s": round(cpu, 2),
        "fetched_twice": len(requests) - len({url for _, url in requests}),
        "searchable": summary["searchable"],
        "builder_freshness_p95_s": summary["freshness_p95"],
    }


def pages_per_second(requests: Sequence[tuple[float, str]], since: float) -> float:
    """The rate of the requests after a time."""
    times = [at for at, _ in requests if at >= since]
    return round((len(times) - 1) / (times[-1] - times[0]), 2) if len(times) > 1 and times[-1] > times[0] else 0.0


def _stopped(process: subprocess.Popen[bytes]) -> float:
    """Ends the program as Ctrl-C would; returns the CPU seconds of its processes."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGINT)
    deadline = time.monotonic() + _STOP_SECONDS
    while time.monotonic() < deadline:
        pid, _, used = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = 0
            return used.ru_utime + used.ru_stime
        time.sleep(0.1)
    process.kill()
    process.wait()
    raise BenchError(f"periplus up did not end within {_STOP_SECONDS:.0f} s")


def _summary(out: Path, err: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(out.read_text())
    except ValueError as problem:
        raise BenchError(f"periplus up --json printed no JSON object: {err.read_text()[-300:]}") from problem
    return found


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
