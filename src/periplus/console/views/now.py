"""What happens now: the overview with its charts, the workers and the commands."""

from __future__ import annotations

from typing import Any

from periplus.console.charts import Sample, chart_data
from periplus.console.processes import by_node, command_state, crawl_word, figures_of
from periplus.console.reader import Query, Reader, Sources
from periplus.errors import UsageError
from periplus.inspector.generation_list import list_generations
from periplus.store.catalog.live_state import Role

SPANS = {"15m": 900.0, "1h": 3_600.0, "6h": 21_600.0, "1d": 86_400.0, "7d": 604_800.0}  # seconds
_POINTS = 240  # of a chart
_COMMANDS_SHOWN = 100
_VISITS_SHOWN = 64  # of a node


def overview(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """State, figures and charts of the collection."""
    span = query.get("span", "1h")
    if span not in SPANS:
        raise UsageError(f"{span!r} is not a time span", hint=f"Choose one of {', '.join(SPANS)}.")
    samples = list(reader.listings.samples(reader.now - SPANS[span], reader.now, _POINTS))
    step = SPANS[span] / _POINTS
    newest = [sample for sample in last_samples(reader)[-1:] if samples and sample[0] > samples[-1][0] + step / 2]
    return figures(sources, reader) | {"span": span, "series": chart_data([*samples, *newest])}


def figures(sources: Sources, reader: Reader) -> dict[str, Any]:
    """State and figures of the collection now."""
    state = reader.state
    live = {one.kind: one for one in list_generations(reader.collection) if one.live}
    last = last_samples(reader)[-1:]
    return {
        "crawl": crawl_word(state),
        "paused": state.is_paused,
        "index": figures_of(Role.INDEX, state),
        "serve": figures_of(Role.SERVE, state),
        "pending_commands": len(state.pending),
        "workers": len(state.workers),
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
    """Every process by node, and the URLs under way: the longest step first, then those that wait."""
    del sources, query
    nodes = by_node(reader.state)
    for node in nodes:
        visits = [
            {"worker": process["number"], **visit}
            for process in node["processes"]
            for visit in process.pop("visits", ())
            if process["state"] != "silent"
        ]
        waits = {"delay", "store"}  # after the URLs that are requested or parsed
        node["visits"] = sorted(visits, key=lambda one: (one["step"] in waits, -one["seconds"]))[:_VISITS_SHOWN]
    queued = reader.catalog.counters()["queued"]
    return {
        "crawl": crawl_word(reader.state),
        "paused": reader.state.is_paused,
        "queued": queued,
        "nodes": nodes,
        "grace_seconds": reader.settings.fleet.grace_seconds,
    }


def commands(sources: Sources, reader: Reader, query: Query) -> dict[str, Any]:
    """The newest commands, and whether every process has carried them out."""
    del sources, query
    return {
        "commands": [
            {
                "command": command.command_id,
                "given": command.given,
                "action": command.action.value,
                "node": command.node,
                "arguments": command.arguments,
                "origin": command.origin,
                "state": command_state(command.command_id, reader.state),
            }
            for command in reader.live.newest_commands(_COMMANDS_SHOWN)
        ]
    }
