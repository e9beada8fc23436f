"""Summarizes a collection and its crawl runs: sizes, outcomes, and the share of time of each step."""

from __future__ import annotations

import time
from typing import Any

from periplus.errors import UsageError
from periplus.inspector.freshness import generation_states, next_command
from periplus.inspector.versions import due_by_class
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection


def overview(collection: Collection, catalog: Catalog) -> dict[str, Any]:
    """The JSON object of `status`."""
    archives = catalog.archives()
    segments = catalog.segments()
    found = {
        "home": str(collection.home),
        "urls": catalog.counters(),
        "refused_links": catalog.refusals(),
        "archive": {"files": len(archives), "bytes": sum(file.committed for file in archives)},
        "segments": {
            "files": len(segments),
            "bytes": sum(segment.size for segment in segments),
            "pages": sum(segment.rows for segment in segments if segment.kind == "pages"),
            "links": sum(segment.rows for segment in segments if segment.kind == "links"),
            "unsealed_archive_bytes": sum(file.committed - file.sealed for file in archives),
        },
        "due": due_by_class(catalog, time.time()),
        "seeds": catalog.seeds(),
        "last_run": last_run(collection, catalog),
        **generation_states(collection, catalog),
    }
    return found | {"next": next_command(found)}


def recent_runs(collection: Collection, catalog: Catalog, limit: int) -> list[dict[str, Any]]:
    """The runs of `runs --json`: the newest runs, newest first, with their main figures."""
    runs = catalog.runs(limit)
    if runs:
        _mark_killed(collection, catalog, runs)
    return [_figures(run) for run in runs]


def one_run(collection: Collection, catalog: Catalog, run_id: int) -> dict[str, Any]:
    """A run with its arguments and its whole summary."""
    run = catalog.run(run_id)
    if run is None:
        last = catalog.last_run()
        why = f"there are runs 1 to {last['run_id']}" if last else "nothing was crawled yet"
        raise UsageError(f"there is no run {run_id}", why, "`periplus runs` lists them.")
    _mark_killed(collection, catalog, [run])
    return run


def last_run(collection: Collection, catalog: Catalog) -> dict[str, Any] | None:
    """The newest run, or None."""
    run = catalog.last_run()
    if run is not None:
        _mark_killed(collection, catalog, [run])
    return run


def shares(timing: dict[str, float]) -> dict[str, float]:
    """The share of each step in the time of all steps, from 0 to 1."""
    whole = sum(timing.values()) or 1.0
    return {step: seconds / whole for step, seconds in timing.items()}


def _mark_killed(collection: Collection, catalog: Catalog, runs: list[dict[str, Any]]) -> None:
    """Marks a run without an end as killed, unless it is the newest and a process has locked the collection."""
    newest = catalog.last_run()
    for run in runs:
        is_newest = newest is not None and run["run_id"] == newest["run_id"]
        if run["ended"] is None and not (is_newest and collection.in_use()):
            run["outcome"] = "killed"


def _figures(run: dict[str, Any]) -> dict[str, Any]:
    summary = run["summary"]
    timing = summary.get("timing", {})
    return {
        **{key: run[key] for key in ("run_id", "started", "ended", "outcome")},
        **{key: summary.get(key, 0) for key in ("fetched", "bytes", "seconds", "pages_per_second")},
        "errors": sum(summary.get("errors", {}).values()),
        "refused": sum(summary.get("refused", {}).values()),
        "timing": timing,
        "shares": {step: round(share, 4) for step, share in shares(timing).items()},
    }
