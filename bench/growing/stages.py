"""Runs every stage over a growing web, each in fresh processes, and measures it.

The result of a stage is written beside the collection, so that an interrupted bench goes on with the next stage.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from growing.served import ServedWeb
from harness.errors import BenchError
from harness.measure import Usage, run

STAGES = ("crawl", "reparse", "rank", "index")
QUERY = "query"
_WRITES = {"crawl": "archive", "reparse": "segments", "rank": "ranks", "index": "index"}  # folders of the collection
_GOOD_EXITS = (0, 3)  # 3: done, but some pages failed


@dataclass(frozen=True)
class Plan:
    """What all sizes share."""

    folder: Path
    each: int  # queries of a kind
    rounds: int
    timeout: float  # seconds of a stage
    keep: bool  # leave the collections on disk


def measured(plan: Plan, web: ServedWeb) -> dict[str, dict[str, Any]]:
    """The figures of every stage on one web; those that are known from an earlier run are not measured again."""
    folder = plan.folder / web.name
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, dict[str, Any]] = {}
    for stage in (*STAGES, QUERY) if web.queries else STAGES:
        file = folder / f"{stage}.json"
        if not file.exists():
            print(f"{web.name}: {stage}", file=sys.stderr, flush=True)
            result = _query(plan, folder, web.queries) if stage == QUERY else _stage(plan, folder, stage, web, found)
            file.write_text(json.dumps(result))
        found[stage] = json.loads(file.read_text())
    if not plan.keep:
        shutil.rmtree(folder / "home", ignore_errors=True)
    return found


def _query(plan: Plan, folder: Path, queries: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "growing.queries", str(folder / "home"), queries, str(plan.each), str(plan.rounds)]
    used, output = _run(plan, folder, QUERY, command)
    return _latency(output) | {"rss_mb": round(used.rss_mb, 1)}


def _stage(plan: Plan, folder: Path, stage: str, web: ServedWeb, before: dict[str, dict[str, Any]]) -> dict[str, Any]:
    home = folder / "home"
    with ExitStack() as beside:
        command = [str(Path(sys.executable).with_name("periplus")), stage, "--home", str(home), "--json"]
        if stage == "crawl":
            shutil.rmtree(home, ignore_errors=True)
            command += beside.enter_context(web.served(folder))
        used, output = _run(plan, folder, stage, command)
    done = output["fetched"] if stage == "crawl" else before["crawl"]["pages"]
    if done < web.pages:
        raise BenchError(f"the crawl fetched {done} of {web.pages} pages")
    return {
        "pages": done,
        "cpu_seconds": round(used.cpu_seconds, 2),
        "cpu_ms_per_page": round(used.cpu_seconds / done * 1e3, 4),
        "seconds": round(used.seconds, 1),
        "rss_mb": round(used.rss_mb, 1),
        "bytes_per_page": round(_size(home / _WRITES[stage]) / done),
        "catalog_bytes_per_page": round(sum(map(_size, home.glob("crawl.db*"))) / done),
        "output": output,
    }


def _run(plan: Plan, folder: Path, stage: str, command: list[str]) -> tuple[Usage, dict[str, Any]]:
    place = folder / stage
    place.mkdir(exist_ok=True)
    environment = ["env", f"PYTHONPATH={Path(__file__).parents[1]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"]
    used = run([*environment, *command], sorted(os.sched_getaffinity(0)), place, plan.timeout)
    if used.exit_code not in _GOOD_EXITS or used.timed_out:
        raise BenchError(f"{stage} ended with {used.exit_code}: {(place / 'stderr.txt').read_text()[-300:]}")
    output: dict[str, Any] = json.loads((place / "stdout.txt").read_text())
    return used, output


def _latency(output: dict[str, Any]) -> dict[str, Any]:
    every = np.concatenate([np.array(times) for times in output["times"].values()])
    kinds = {f"{kind}_p50_ms": round(float(np.median(times)), 3) for kind, times in output["times"].items()}
    middle, last = np.percentile(every, (50, 99)).tolist()
    figures = {"p50_ms": round(middle, 3), "p99_ms": round(last, 3), "mean_ms": round(float(every.mean()), 3)}
    return {"documents": output["documents"], "queries": len(every), **figures, **kinds}


def _size(path: Path) -> int:
    """Bytes of a file or of all files below a folder."""
    return path.stat().st_size if path.is_file() else sum(_size(inner) for inner in path.iterdir())
