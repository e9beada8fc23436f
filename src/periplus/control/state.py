"""What runs now in a collection, is it paused, and which commands are not carried out yet?"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from typing import Any

from periplus.model import UrlState
from periplus.store.catalog.live_state import Action, Command, LiveState, NodeRow, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection

_COMMANDS_SHOWN = 1_000  # the newest, of which some may be pending
_LOOK_EVERY = 0.05  # seconds


@dataclass(frozen=True, slots=True)
class Process:
    """One process of the collection."""

    row: WorkerRow
    is_alive: bool

    def shown(self) -> dict[str, Any]:
        """The process as a JSON object."""
        return {**asdict(self.row), "role": self.row.role.value, "is_alive": self.is_alive}


@dataclass(frozen=True, slots=True)
class CrawlState:
    """What the processes of a collection do."""

    processes: list[Process]  # also those that were killed, until another one takes their place
    is_paused: bool  # whether a crawl on this node is paused, or would start paused
    pending: list[Command]  # given, and not carried out by every live worker; oldest first
    nodes: list[NodeRow]  # of a fleet, also those that are silent

    @property
    def workers(self) -> list[WorkerRow]:
        """The live workers of crawls."""
        return [one.row for one in self.processes if one.is_alive and one.row.role is Role.CRAWL]

    @property
    def is_running(self) -> bool:
        """Whether a crawl is running."""
        return bool(self.workers)

    def shown(self) -> dict[str, Any]:
        """The state as a JSON object."""
        return {
            "running": self.is_running,
            "paused": self.is_paused,
            "processes": [one.shown() for one in self.processes],
            "nodes": [asdict(node) | {"is_live": node.is_live} for node in self.nodes],
            "pending": [asdict(command) | {"action": command.action.value} for command in self.pending],
        }


def crawl_state(collection: Collection) -> CrawlState:
    """The processes of a collection, and the commands they have not carried out."""
    with closing(open_catalog(collection, LiveState)) as live:
        rows, commands, paused = live.workers(), live.newest_commands(_COMMANDS_SHOWN), live.is_paused(collection.node)
        nodes = live.nodes()
    registered: dict[str, bool] = {}
    for node in nodes:  # an earlier folder of the same name may be registered, too
        registered[node.name] = registered.get(node.name, False) or node.is_live
    processes = [Process(row, _is_alive(collection, row, registered)) for row in rows]
    workers = [one.row for one in processes if one.is_alive and one.row.role is Role.CRAWL]
    pending = [command for command in reversed(commands) if not _is_done(command, workers)]
    return CrawlState(processes, paused, pending, nodes)


def wait_until_obeyed(collection: Collection, seconds: float = 5.0) -> bool:
    """Wait until all live crawl workers have carried out the commands given so far; False: *seconds* were too few."""
    until, last = time.monotonic() + seconds, _last_command(collection)
    while any(command.command_id <= last for command in crawl_state(collection).pending):
        if time.monotonic() > until:
            return False
        time.sleep(_LOOK_EVERY)
    return True


def seed_states(collection: Collection) -> list[dict[str, Any]]:
    """Every seed and sitemap, oldest first, with the state of its URL; `waiting`: no crawl has admitted it yet."""
    with closing(open_catalog(collection, Queries)) as catalog:
        return [{"url": url, **_state_of(catalog.url(url))} for url in catalog.seeds()]


def _state_of(row: dict[str, Any] | None) -> dict[str, str]:
    if row is None:
        return {"state": "waiting", "reason": "", "detail": ""}
    return {"state": UrlState(row["state"]).name.lower(), "reason": row["reason"], "detail": row["detail"]}


def _last_command(collection: Collection) -> int:
    with closing(open_catalog(collection, LiveState)) as live:
        return live.last_command()


def _is_alive(collection: Collection, row: WorkerRow, registered: Mapping[str, bool]) -> bool:
    """Whether a process is alive: it reports, and on this machine it also exists.

    A crawl that was killed has lost its lock of the collection. Crawls on other nodes have a lease, which the clock of
    the database decides: those of two machines may differ.
    """
    if row.node != collection.node and row.role is Role.CRAWL and registered:
        return registered.get(row.node, False)
    if row.is_silent(time.time()):
        return False
    if row.node != collection.node:
        return True
    return _exists(row.pid) and (row.role is not Role.CRAWL or collection.in_use())


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_done(command: Command, workers: Sequence[WorkerRow]) -> bool:
    """Whether every live worker of the command's nodes has carried it out; a stop is for those that ran then."""
    concerned = [row for row in workers if command.node in ("", row.node)]
    if command.action in (Action.DRAIN, Action.STOP):
        concerned = [row for row in concerned if row.started < command.given]
    return all(row.commanded >= command.command_id for row in concerned)
