"""Waits until a running crawl has carried out a command, and says what happened."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from periplus.cli.output import plural, print_json, printable
from periplus.control.state import crawl_state, wait_until_obeyed
from periplus.errors import PartialFailure, UsageError
from periplus.store.collection import Collection

_PATIENCE = 5.0  # seconds

Node = Annotated[
    str, typer.Option("--node", metavar="NAME", help="Only the crawl on this machine; `periplus status` names them.")
]


@dataclass(frozen=True, slots=True)
class Reply:
    """How running crawls have reacted to a command."""

    is_running: bool  # a crawl was running when the command was given
    under_way: int  # requests, when the command was carried out

    @property
    def requests(self) -> str:
        """The requests that a paused or drained crawl still finishes."""
        return f"{plural(self.under_way, 'request')} under way will finish." if self.under_way else ""


def require_known(collection: Collection, node: str) -> None:
    """Refuse the name of a node that the fleet does not have."""
    state = crawl_state(collection)
    names = {one.row.node for one in state.processes} | {one.name for one in state.nodes}
    if node and names and node not in names:
        raise UsageError(f"there is no node {node}", f"the nodes are {', '.join(sorted(names))}")


def wait_for_reply(collection: Collection, node: str = "") -> Reply:
    """Wait for the workers of a crawl; raises `PartialFailure` when they do not answer."""
    is_running = any(node in ("", row.node) for row in crawl_state(collection).workers)
    if not wait_until_obeyed(collection, _PATIENCE):
        raise PartialFailure(
            f"the crawl has not answered within {_PATIENCE:g} s",
            "it may be busy with a large page",
            "The command is kept and will be carried out; `periplus status` shows pending commands.",
        )
    workers = [row for row in crawl_state(collection).workers if node in ("", row.node)]
    return Reply(is_running, sum(int(row.figures["under_way"]) for row in workers))


def show(sentence: str, figures: Mapping[str, Any], reply: Reply, *, as_json: bool) -> None:
    """Print one sentence, or the figures as JSON."""
    if as_json:
        print_json({**figures, "running": reply.is_running, "under_way": reply.under_way})
    else:
        typer.echo(printable(" ".join(sentence.split())))
