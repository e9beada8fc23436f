"""Measures `periplus rank` from segments to published ranks: wall time, CPU time and memory per step.

The ranking runs in its own process, `python -m ranking.whole HOME`, so that only its memory is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.machine import busy_seconds
from periplus.config import LinkAnalysis
from periplus.graph.run import rank
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, open_collection
from ranking.phases import Phases

MEMORY = 2 << 30  # what DuckDB may use
_BUILDING = (
    "start",
    "folding the addresses that are one page",
    "merging duplicate URLs",
    "numbering pages",
    "reading links",
)
_ANCHORS = "collecting anchor texts"
_ITERATION_PREFIXES = ("iteration", "PageRank")
_ITERATING = "iteration"


def whole_way(collection: Collection) -> dict[str, Any]:
    """Seconds from links to ranks, with CPU time and memory by step."""
    print("from links to ranks", file=sys.stderr)
    cores = sorted(os.sched_getaffinity(0))
    begun, busy = time.monotonic(), busy_seconds(cores)
    command = [sys.executable, "-m", "ranking.whole", str(collection.home)]
    result = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=False, cwd=Path(__file__).resolve().parents[1]
    )
    seconds = time.monotonic() - begun
    if result.returncode:
        raise BenchError("periplus rank failed; its message is above")
    found: dict[str, Any] = json.loads(result.stdout)
    others = max(0.0, busy_seconds(cores) - busy - found.pop("cpu_seconds")) / (seconds * len(cores))
    return {**found, "links_to_ranks_seconds": round(seconds, 1), "others_share": round(others, 3)}


def main() -> None:
    """Ranks the collection and prints the costs as JSON."""
    collection = open_collection(Path(sys.argv[1]))
    with Phases() as phases:
        summary = rank(
            collection,
            LinkAnalysis(memory_mb=MEMORY >> 20),
            progress=lambda step: phases.enter(_ITERATING if step.startswith(_ITERATION_PREFIXES) else step),
        )
    links = _links(collection)
    building = sum(phases.cpu[step] for step in _BUILDING)
    found = {
        "rss_mb": phases.peak_mb[_ITERATING],
        "rss_allowed_mb": round((6 * summary.edges + 40 * summary.nodes) / 1e6 + 300),
        "links": links,
        "iterations": summary.iterations,
        "links_per_core_second": round(links / building),
        "building_rss_mb": max(phases.peak_mb.get(step, 0) for step in _BUILDING),
        "building_allowed_mb": round((MEMORY + 8 * summary.edges) / 1e6 + 300),
        "anchors_rss_mb": phases.peak_mb[_ANCHORS],
        "steps": summary.steps,
        "cpu_seconds": time.process_time(),
    }
    print(json.dumps(found))


def _links(collection: Collection) -> int:
    catalog = open_catalog(collection)
    try:
        return sum(segment.rows for segment in catalog.segments("links"))
    finally:
        catalog.close()


if __name__ == "__main__":
    main()
