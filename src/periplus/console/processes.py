"""Which processes run now, what do they do, and which commands have they carried out?"""

from __future__ import annotations

from typing import Any

from periplus.control.state import CrawlState, Process
from periplus.store.live_state import Role


def crawl_word(state: CrawlState) -> str:
    """Running, paused, draining or stopped: what the live crawl workers do."""
    states = {row.state for row in state.workers}
    if not states:
        return "stopped"
    if "draining" in states:
        return "draining"
    return "paused" if states == {"paused"} else "running"


def by_node(state: CrawlState) -> list[dict[str, Any]]:
    """The processes of each node."""
    nodes = sorted({one.row.node for one in state.processes})
    return [
        {"node": node, "processes": [_shown(one) for one in state.processes if one.row.node == node]} for node in nodes
    ]


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
