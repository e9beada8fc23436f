"""What do the processes of a collection do now, and what has the user told them to do?

Processes publish a row about once a second and read new commands from rows. Nothing here uses shared memory, so that
processes on other machines can do the same with another database.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from periplus.store.database.database import Database

SILENT_SECONDS = 15.0  # without a report, after which a process counts as gone
_SAMPLES_KEPT = 7 * 86_400.0  # seconds


class Action(StrEnum):
    """What a user can tell running processes to do."""

    PAUSE = "pause"  # no new requests; everything stays in memory
    RESUME = "resume"
    DRAIN = "drain"  # finish requests under way, commit, end
    STOP = "stop"  # drop requests under way, commit, end
    START = "start"  # begin again; for the supervisor of `periplus up`
    ADD_SEEDS = "seed add"  # arguments: urls, sitemaps
    REMOVE_SEED = "seed remove"  # arguments: url
    BLOCK = "block"  # arguments: host
    UNBLOCK = "unblock"  # arguments: host
    UNLEARN = "unlearn"  # arguments: host, pattern
    RELOAD = "reload"  # arguments: hosts; URLs were queued by another process of the fleet
    RETRY = "retry"  # arguments: host or url; errors are forgotten and failed URLs queued


class Role(StrEnum):
    """The kinds of processes that publish rows."""

    CRAWL = "crawl"
    INDEX = "index"
    SERVE = "serve"


@dataclass(frozen=True, slots=True)
class Command:
    """One thing that the user told the processes to do."""

    command_id: int
    given: float
    action: Action
    node: str  # empty: every node
    arguments: dict[str, Any]
    origin: str  # "cli", "console" or "api"


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """What one process publishes about itself."""

    node: str
    role: Role
    number: int
    pid: int
    started: float
    seen: float
    state: str  # running, idle, paused, draining
    commanded: int  # the last command that the process has carried out
    figures: dict[str, Any] = field(default_factory=dict)

    def is_silent(self, now: float) -> bool:
        """Whether the process has not reported for so long that it counts as gone."""
        return now - self.seen > SILENT_SECONDS


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node that is registered in the database of a fleet; times are those of the database."""

    name: str
    joined: float
    seen: float  # when a worker of the node renewed its lease
    silent_seconds: float  # since then
    workers: int  # with a lease
    shares: int  # of the domains, of 1,024
    waiting_files: int  # archive files that are not uploaded
    waiting_bytes: int

    @property
    def is_live(self) -> bool:
        """Whether a worker of the node has a lease, and has renewed it recently."""
        return self.workers > 0 and self.silent_seconds <= SILENT_SECONDS


@dataclass(frozen=True, slots=True)
class Publication:
    """What a process writes at once: its row, and a sample when one is due."""

    row: WorkerRow
    sample: dict[str, Any] | None = None


def write_publication(database: Database, publication: Publication) -> None:
    """Replace the row of a process and add its sample, inside a transaction of the caller."""
    row = publication.row
    values = (row.node, row.role, row.number, row.pid, row.started, row.seen, row.state, row.commanded)
    database.run("publish_worker", *values, json.dumps(row.figures))
    if publication.sample is not None:
        database.run("add_sample", row.seen, json.dumps(publication.sample))
        database.run("remove_samples", row.seen - _SAMPLES_KEPT)


class LiveState:
    """The rows of processes, commands and samples in the catalog."""

    def __init__(self, database: Database) -> None:
        """*database* is closed with this object."""
        self._database = database

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # -- processes ----------------------------------------------------------------------------------------------

    def publish(self, row: WorkerRow) -> None:
        """Replace the row of a process."""
        with self._database.transaction():
            write_publication(self._database, Publication(row))

    def remove(self, node: str, role: Role, number: int) -> None:
        """Remove the row of a process that has ended."""
        with self._database.transaction():
            self._database.run("remove_worker", node, role, number)

    def remove_all(self, node: str, role: Role) -> None:
        """Remove the rows that killed processes of a node left."""
        with self._database.transaction():
            self._database.run("remove_workers", node, role)

    def workers(self) -> list[WorkerRow]:
        """The rows of all processes, also of those that were killed."""
        return [
            WorkerRow(node, Role(role), number, pid, started, seen, state, commanded, json.loads(figures))
            for node, role, number, pid, started, seen, state, commanded, figures in self._database.rows("worker_rows")
        ]

    def nodes(self) -> list[NodeRow]:
        """The registered nodes of a fleet; none on one machine."""
        return [NodeRow(*row[:4], *map(int, row[4:])) for row in self._database.rows("nodes")]

    def rate_limit(self, now: float) -> float | None:
        """How many pages a second each live crawl worker may start; None: as many as it can.

        The builder of the index sets the limit of the whole crawl. A silent builder sets none.
        """
        since = now - SILENT_SECONDS
        rows = (json.loads(figures) for (figures,) in self._database.rows("index_figures", since))
        limits = [float(limit) for figures in rows if (limit := figures.get("rate_limit")) is not None]
        if not limits:
            return None
        (workers,) = self._database.row("live_crawl_workers", since)
        return min(limits) / max(int(workers), 1)

    # -- commands -----------------------------------------------------------------------------------------------

    def command(self, action: Action, arguments: Mapping[str, Any], *, node: str = "", origin: str = "cli") -> int:
        """Tell the processes to do something; returns the number of the command."""
        with self._database.transaction():
            row = self._database.row("add_command", time.time(), action, node, json.dumps(dict(arguments)), origin)
        return int(row[0])

    def commands_after(self, last: int) -> list[Command]:
        """The commands that were given after command *last*, oldest first."""
        return [_command(row) for row in self._database.rows("commands_after", last)]

    def newest_commands(self, most: int) -> list[Command]:
        """The newest commands, newest first."""
        return [_command(row) for row in self._database.rows("newest_commands", most)]

    def last_command(self) -> int:
        """The number of the newest command; 0 before the first."""
        (number,) = self._database.row("last_command")
        return int(number)

    def is_paused(self, node: str) -> bool:
        """Whether the last pause or resume of a node was a pause."""
        row = self._database.row("last_pause", node)
        return row is not None and row[0] == Action.PAUSE

    # -- samples ------------------------------------------------------------------------------------------------

    def add_sample(self, at: float, figures: Mapping[str, Any]) -> None:
        """Store figures of the whole collection at a time; samples older than a week are removed."""
        with self._database.transaction():
            self._database.run("add_sample", at, json.dumps(dict(figures)))
            self._database.run("remove_samples", at - _SAMPLES_KEPT)

    def samples(self, since: float) -> list[tuple[float, dict[str, Any]]]:
        """The samples after a time, oldest first."""
        return [(at, json.loads(figures)) for at, figures in self._database.rows("samples_since", since)]


def _command(row: Sequence[Any]) -> Command:
    command_id, given, action, node, arguments, origin = row
    return Command(command_id, given, Action(action), node, json.loads(arguments), origin)
