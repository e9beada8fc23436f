"""Measures what the steps cost alone: crawl, reparse and index, one after the other."""

from __future__ import annotations

import time
from pathlib import Path

from harness.errors import BenchError
from harness.measure import run
from living.runs import WARM_UP, Bench, pages_per_second


def steps_alone(bench: Bench) -> dict[str, float]:
    """CPU seconds of each step over the whole web, at delay 0."""
    home = bench.folder / "alone"
    home.mkdir()
    crawl = [*bench.crawl("crawl", home), "--delay", "0", "--json"]
    steps = {"crawl": crawl, **{step: bench.command(step, home, "--json") for step in ("reparse", "index")}}
    return {name: _cpu(name, command, bench) for name, command in steps.items()}


def _cpu(name: str, command: list[str], bench: Bench) -> float:
    folder = bench.folder / f"step-{name}"
    folder.mkdir()
    used = run(command, bench.cores, folder, bench.timeout)
    if used.exit_code not in {0, 3}:
        raise BenchError(f"periplus {name} failed: {(folder / 'stderr.txt').read_text()[-300:]}")
    return round(used.cpu_seconds, 2)


def crawl_alone(bench: Bench) -> float:
    """The pages per second of a polite crawl alone, after its first seconds."""
    home: Path = bench.folder / "polite-alone"
    folder = bench.folder / "step-polite"
    folder.mkdir()
    start, began = bench.server.size(), time.time()
    command = [*bench.crawl("crawl", home), "--seconds", str(bench.seconds), "--json"]
    used = run(command, bench.cores, folder, bench.timeout)
    if used.exit_code not in {0, 3}:
        raise BenchError(f"periplus crawl failed: {(folder / 'stderr.txt').read_text()[-300:]}")
    return pages_per_second(bench.server.requests(start)[0], began + WARM_UP)
