"""What happened before: runs, generations of index and ranks, and the settings in force."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from periplus.config import sections
from periplus.console.reader import Query, Reader, Sources
from periplus.inspector.generation_list import list_published
from periplus.inspector.runs import recent_runs

STEPS = ("idle", "robots", "delay", "connect", "fetch", "parse", "store")
_LISTED = 50
_COMPARED = 4  # runs side by side unless the reader chooses others


def runs(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The newest runs, and the step timings of some of them side by side."""
    del sources
    found = recent_runs(reader.collection, reader.catalog, _LISTED)
    wanted = {int(part) for part in query.get("runs", "").split(",") if part.strip().isdecimal()}
    compared = [run for run in found if run["run_id"] in wanted] or found[:_COMPARED]
    return {
        "runs": found,
        "compared": [run["run_id"] for run in compared],
        "steps": [_step(name, compared) for name in STEPS],
    }


def _step(name: str, compared: list[dict[str, Any]]) -> dict[str, Any]:
    """The share of one step in each of the runs, and its time per page in milliseconds."""
    return {
        "step": name,
        "shares": [run["shares"].get(name, 0.0) for run in compared],
        "ms_per_page": [
            1000 * run["timing"].get(name, 0.0) / run["fetched"] if run["fetched"] else None for run in compared
        ],
    }


def generations(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The generations of index and ranks, newest first."""
    del sources, query
    return {"generations": [asdict(generation) for generation in list_published(reader.collection)]}


def settings(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """Every setting with its value and origin; secrets only say whether they are set."""
    del sources
    changed_only = query.get("only") == "changed"
    meanings = {
        f"{table}.{name}": field.description or ""
        for table, model in sections()
        for name, field in model.model_fields.items()
    }
    rows = [
        {"setting": key, "value": _plain(value), "origin": origin, "meaning": meanings[key]}
        for key, value, origin in reader.configuration.rows()
        if not changed_only or origin != "default"
    ]
    return {"settings": rows, "only": "changed" if changed_only else ""}


def _plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value.model_dump() if hasattr(value, "model_dump") else value
