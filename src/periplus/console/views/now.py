"""What happens now: the overview with its charts, the workers and the commands."""

from __future__ import annotations

from typing import Any

from periplus.console.charts import Sample, chart_data
from periplus.console.processes import COMMANDS_SHOWN, command_state, processes
from periplus.console.reader import Query, Reader, Sources
from periplus.errors import UsageError
from periplus.inspector.generation_list import list_generations

SPANS = {"15m": 900.0, "1h": 3_600.0, "6h": 21_600.0, "1d": 86_400.0, "7d": 604_800.0}  # seconds
_POINTS = 240  # of a chart
_LONGEST_VISITS = 64


def overview(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """State, figures and charts of the collection."""
    span = query.get("span", "1h")
    if span not in SPANS:
        raise UsageError(f"{span!r} is not a time span", hint=f"Choose one of {', '.join(SPANS)}.")
    samples = list(reader.listings.samples(reader.now - SPANS[span], reader.now, _POINTS))
    newest = [sample for sample in last_samples(reader)[-1:] if samples and sample[0] > samples[-1][0]]
    return figures(sources, reader) | {"span": span, "series": chart_data([*samples, *newest])}


def figures(sources: Sources, reader: Reader) -> dict[str, Any]:
    """State and figures of the collection now."""
    found = processes(reader.live, reader.now)
    live = {one.kind: one for one in list_generations(reader.collection) if one.live}
    last = last_samples(reader)[-1:]
    return {
        "crawl": found["crawl"],
        "paused": found["paused"],
        "index": found["index"],
        "serve": found["serve"],
        "pending_commands": found["pending"],
        "workers": found["workers"],
        "urls": reader.catalog.counters(),
        "live_generations": {
            kind: {"generation": one.generation, "documents": one.documents, "published": one.published}
            for kind, one in live.items()
        },
        "sample": {"at": last[0][0], **last[0][1]} if last else None,
        "alerts": [alert._asdict() for alert in sources.alerts(reader)],
    }


def last_samples(reader: Reader) -> list[Sample]:
    """The two newest samples, the older one first."""
    return reader.listings.last_samples(2)


def workers(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """Every process by node, and the URLs that crawl workers fetch now, the longest step first."""
    del sources, query
    found = processes(reader.live, reader.now)
    for node in found["nodes"]:
        visits = [
            {"worker": process["number"], **visit}
            for process in node["processes"]
            for visit in process.pop("visits", ())
            if process["state"] != "silent"
        ]
        node["visits"] = sorted(visits, key=lambda visit: -visit["seconds"])[:_LONGEST_VISITS]
    return found


def commands(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The newest commands, and whether every process has carried them out."""
    del sources, query
    rows = reader.live.workers()
    return {
        "commands": [
            {
                "command": command.command_id,
                "given": command.given,
                "action": command.action.value,
                "node": command.node,
                "arguments": command.arguments,
                "origin": command.origin,
                "state": command_state(command, rows, reader.now),
            }
            for command in reader.live.newest_commands(COMMANDS_SHOWN)
        ]
    }
