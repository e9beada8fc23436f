"""Which processes run now, what do they do, and which commands have they carried out?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from periplus.store.live_state import Action, Command, LiveState, Role, WorkerRow

COMMANDS_SHOWN = 100
_SWITCHES = (Action.PAUSE, Action.RESUME)


def processes(live: LiveState, now: float) -> dict[str, Any]:
    """The nodes with their processes, and the state of crawl, index and serve."""
    rows = live.workers()
    commands = live.newest_commands(COMMANDS_SHOWN)
    pending = [command for command in commands if command_state(command, rows, now) == "pending"]
    return {
        "crawl": crawl_state(rows, now),
        "paused": _is_paused(commands),
        "index": _state_of(Role.INDEX, rows, now),
        "serve": _state_of(Role.SERVE, rows, now),
        "pending": len(pending),
        "workers": sum(row.role is Role.CRAWL and not row.is_silent(now) for row in rows),
        "nodes": [
            {"node": node, "processes": [_process(row, now) for row in rows if row.node == node]}
            for node in sorted({row.node for row in rows})
        ],
    }


def crawl_state(rows: Iterable[WorkerRow], now: float) -> str:
    """Running, paused, draining or stopped: what the crawl workers that still report do."""
    states = {row.state for row in rows if row.role is Role.CRAWL and not row.is_silent(now)}
    if not states:
        return "stopped"
    if "draining" in states:
        return "draining"
    return "paused" if states == {"paused"} else "running"


def command_state(command: Command, rows: Sequence[WorkerRow], now: float) -> str:
    """Whether a command is done, pending, or stored for the next crawl."""
    crawling = [
        row for row in rows if row.role is Role.CRAWL and not row.is_silent(now) and command.node in ("", row.node)
    ]
    if not crawling:
        return "stored"
    return "done" if all(row.commanded >= command.command_id for row in crawling) else "pending"


def _is_paused(commands: Sequence[Command]) -> bool:
    """Whether the last of pause and resume for every node was pause, so that the next crawl starts paused."""
    last = next((command for command in commands if command.action in _SWITCHES and not command.node), None)
    return last is not None and last.action is Action.PAUSE


def _state_of(role: Role, rows: Iterable[WorkerRow], now: float) -> dict[str, Any]:
    found = next((row for row in rows if row.role is role and not row.is_silent(now)), None)
    return {"state": "stopped"} if found is None else {"state": found.state, **found.figures}


def _process(row: WorkerRow, now: float) -> dict[str, Any]:
    return {
        "role": row.role.value,
        "number": row.number,
        "pid": row.pid,
        "started": row.started,
        "seen": row.seen,
        "state": "silent" if row.is_silent(now) else row.state,
        "commanded": row.commanded,
        **row.figures,
    }
