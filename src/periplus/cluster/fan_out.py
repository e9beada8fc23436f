"""Asks several shards at once and survives nodes that are dead, slow or busy.

Every request goes to one node that has the shard. When the node fails, the next replica is asked. When the node takes
longer than nearly all answers of that kind, the next replica is asked, too, and the first answer counts. A request
without an answer at the deadline, or without a node that is up, is left unanswered.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock, local
from typing import NamedTuple

from periplus.cluster.nodes import Node, Nodes
from periplus.cluster.protocol import BUSY, NO_SUCH_GENERATION, PREFIX
from periplus.cluster.transfers import Request, Transfer, Transfers

logger = logging.getLogger("periplus.cluster")

_KINDS = {
    0: "connection",
    BUSY: "busy",
    NO_SUCH_GENERATION: "generation",
    401: "refused",
    403: "refused",
}  # of failures, by status
_DOWN = frozenset({"connection", "refused"})  # failures after which a node is not asked until it answers a probe
_SPARE = 1.0  # seconds that libcurl waits longer than the round, which cancels its requests itself
_MOST_TEXT = 200  # bytes of an answer in the log


class ShardRequest(NamedTuple):
    """A request to one shard."""

    generation: str  # id
    shard: int
    method: str
    body: bytes


@dataclass(slots=True)
class _PendingRequest:
    """A request without an answer."""

    request: ShardRequest
    replicas: list[Node]  # not asked yet, the best first
    asked: list[Transfer] = field(default_factory=list)  # under way
    latest: Node | None = None  # that was asked
    hedge_at: float = 0.0


class FanOut:
    """Asks nodes; safe to share between threads. Every thread has its own connections."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes, self._lock = nodes, Lock()
        self._local, self._all = local(), list[Transfers]()

    def ask(self, requests: Sequence[ShardRequest], timeout: float) -> list[bytes | None]:
        """The answers in the order of the requests, at the latest after *timeout* seconds; None: no answer."""
        return _ScatterGather(self._nodes, self._transfers(), requests, timeout).answers()

    def close(self) -> None:
        """Close all connections; nothing may be asked any more."""
        with self._lock:
            for transfers in self._all:
                transfers.close()
            self._all.clear()

    def _transfers(self) -> Transfers:
        found: Transfers | None = getattr(self._local, "transfers", None)
        if found is None:
            found = self._local.transfers = self._nodes.transfers()
            with self._lock:
                self._all.append(found)
        return found


class _ScatterGather:
    """Requests that are asked at once."""

    def __init__(self, nodes: Nodes, transfers: Transfers, requests: Sequence[ShardRequest], timeout: float) -> None:
        self._nodes, self._transfers = nodes, transfers
        self._deadline = time.monotonic() + timeout
        self._answers: list[bytes | None] = [None] * len(requests)
        self._open = {
            place: _PendingRequest(one, nodes.replicas(one.generation, one.shard)) for place, one in enumerate(requests)
        }
        self._under_way: dict[int, tuple[int, Node, Transfer]] = {}  # by id of the transfer: place of the request

    def answers(self) -> list[bytes | None]:
        """Ask, and wait for the answers."""
        try:
            for place in list(self._open):
                self._ask_next(place)
            while self._open and (now := time.monotonic()) < self._deadline:
                for transfer in self._transfers.wait(self._next_event() - now):
                    self._complete(transfer)
                self._hedge()
        finally:
            self._cancel_pending()
        return self._answers

    def _next_event(self) -> float:
        hedges = [one.hedge_at for one in self._open.values() if one.replicas]
        return min([self._deadline, *hedges])

    def _ask_next(self, place: int) -> None:
        """Ask the next replica; without one, the request stays unanswered unless it is under way."""
        one = self._open[place]
        if not one.replicas:
            if not one.asked:
                del self._open[place]
            return
        node, request = one.replicas.pop(0), one.request
        now = time.monotonic()
        url = f"{node.url}{PREFIX}/{request.generation}/{request.shard}/{request.method}"
        transfer = self._transfers.start(Request(url, request.body, max(self._deadline - now, 0.0) + _SPARE))
        self._nodes.begin(node, request.method)
        one.asked.append(transfer)
        one.latest = node
        one.hedge_at = now + self._nodes.hedge_delay(request.method)
        self._under_way[id(transfer)] = place, node, transfer

    def _hedge(self) -> None:
        now = time.monotonic()
        for place, one in list(self._open.items()):
            if one.replicas and one.hedge_at <= now and one.latest is not None:
                self._nodes.hedged(one.latest)
                self._ask_next(place)

    def _complete(self, transfer: Transfer) -> None:
        """Take an answer, or ask the next replica after a failure."""
        place, node, _ = self._under_way.pop(id(transfer))
        self._nodes.end(node)
        one = self._open[place]
        if transfer.status == 200:
            self._nodes.answered(one.request.method, transfer.seconds)
            self._answers[place] = transfer.body
            del self._open[place]
            for other in one.asked:
                if other is not transfer:
                    self._drop(other)
            return
        one.asked.remove(transfer)
        self._record_failure(node, transfer)
        self._ask_next(place)

    def _record_failure(self, node: Node, transfer: Transfer) -> None:
        """Count a failure; without an answer, or without access, the node is down until it answers a probe."""
        kind = _KINDS.get(transfer.status, "error")
        text = transfer.problem or transfer.body[:_MOST_TEXT].decode(errors="replace")
        problem = f"it answers {transfer.status}: {text}" if transfer.status else text
        if kind == "error":
            logger.error("node %s: %s", node.url, problem)
        self._nodes.failed(node, kind, problem, is_down=kind in _DOWN)

    def _drop(self, transfer: Transfer) -> None:
        """End a request whose answer is not needed."""
        _, node, _ = self._under_way.pop(id(transfer))
        self._nodes.end(node)
        self._transfers.cancel(transfer)

    def _cancel_pending(self) -> None:
        """End all requests that are under way at the deadline."""
        is_late = time.monotonic() >= self._deadline
        for place, node, transfer in list(self._under_way.values()):
            self._drop(transfer)
            if is_late and place in self._open:
                self._nodes.failed(node, "timeout", "it does not answer in time", is_down=True)
