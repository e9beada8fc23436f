"""Which processes run now, what do they do, and which commands have they carried out?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from periplus.control.state import CrawlState, Process
from periplus.store.catalog.live_state import NodeRow, Role


def crawl_word(state: CrawlState) -> str:
    """Running, paused, draining or stopped: what the live crawl workers do."""
    states = {row.state for row in state.workers}
    if not states:
        return "stopped"
    if "draining" in states:
        return "draining"
    return "paused" if states == {"paused"} else "running"


def by_node(state: CrawlState) -> list[dict[str, Any]]:
    """The processes of each node; nodes that are registered in a fleet also when no process of theirs reports."""
    names = {one.row.node for one in state.processes}
    latest = {node.name: node for node in state.nodes}  # the newest folder of each name
    shown = [_node(name, latest.get(name), [one for one in state.processes if one.row.node == name]) for name in names]
    shown += [_node(node.name, node, []) for node in state.nodes if node.name not in names or node != latest[node.name]]
    return sorted(shown, key=lambda node: str(node["node"]))


def _node(name: str, registered: NodeRow | None, processes: list[Process]) -> dict[str, Any]:
    rates = (one.row.figures.get("pages_per_second") or 0.0 for one in processes if one.is_alive)
    return {
        "node": name,
        "state": "silent" if registered is not None and not registered.is_live else "live",
        "registered": None if registered is None else asdict(registered),
        "pages_per_second": round(sum(rates), 2),
        "processes": [_shown(one) for one in processes],
    }


def figures_of(role: Role, state: CrawlState) -> dict[str, Any]:
    """State and figures of the process that builds the index, or that serves the search site."""
    found = next((one.row for one in state.processes if one.row.role is role and one.is_alive), None)
    return {"state": "stopped"} if found is None else {"state": found.state, **found.figures}


def command_state(number: int, state: CrawlState) -> str:
    """Whether a command is done, pending, or stored for the next crawl."""
    if not state.is_running:
        return "stored"
    return "pending" if any(command.command_id == number for command in state.pending) else "done"


def _shown(one: Process) -> dict[str, Any]:
    return {
        "role": one.row.role.value,
        "number": one.row.number,
        "pid": one.row.pid,
        "started": one.row.started,
        "seen": one.row.seen,
        "state": one.row.state if one.is_alive else "silent",
        "commanded": one.row.commanded,
        **one.row.figures,
    }
