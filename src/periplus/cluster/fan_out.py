"""Sends requests to several shards at once and survives nodes that are dead, slow or busy.

Every request goes to one node that has the shard. When the node fails, the request goes to the next replica. When the
node takes longer than nearly all answers of that method, the request goes to the next replica, too, and the first
answer counts. A request without an answer at the deadline, or without a node that is up, is left unanswered.

When an answer is late, the broker pings the node. A node that does not answer the ping either, such as a machine that
lost its power, is not waited for. A node that answers the ping is slow: it has time until the deadline. When no node
has answered anything meanwhile, the broker or its network may stand still. Then it pings again. To tell these cases
apart, the broker also pings a node that is not late, unless some node has answered since the request was sent.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock, local

from periplus.cluster.nodes import Node, Nodes
from periplus.cluster.protocol import BUSY, FACTS, NO_SUCH_GENERATION, ShardRequest
from periplus.cluster.transfers import Request, Transfer, Transfers

logger = logging.getLogger("periplus.cluster")

_KINDS = {
    0: "connection",
    BUSY: "busy",
    NO_SUCH_GENERATION: "generation",
    401: "refused",
    403: "refused",
}  # of failures, by status
_DOWN = frozenset({"connection", "refused"})  # failures after which a node gets no request until it answers a probe
_LATE = 0.05  # seconds after which a node without an answer is pinged
_ALIVE_SHARE, _ALIVE_LEAST = 0.1, 0.15  # of the timeout, and seconds: to connect, and to answer a ping
_SPARE = 1.0  # seconds that libcurl waits longer than the deadline, at which the requests are cancelled
_MOST_TEXT = 200  # bytes of an answer in the log


@dataclass(slots=True, eq=False)
class _PendingRequest:
    """A request without an answer."""

    request: ShardRequest
    replicas: list[Node]  # that have not got it yet, the best first
    under_way: int = 0  # number of nodes that have it
    latest: Node | None = None  # that got it
    hedge_at: float = 0.0


@dataclass(slots=True, eq=False)
class _Sent:
    """A request under way to one node."""

    pending: _PendingRequest
    place: int  # of the request
    node: Node
    transfer: Transfer


class FanOut:
    """Sends requests to nodes; safe to share between threads. Every thread has its own connections."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes, self._lock = nodes, Lock()
        self._local, self._all = local(), list[Transfers]()

    def ask(self, requests: Sequence[ShardRequest], timeout: float) -> list[bytes | None]:
        """The answers in the order of the requests, at the latest after *timeout* seconds; None: no answer."""
        return _ScatterGather(self._nodes, self._transfers(), requests, timeout).answers()

    def close(self) -> None:
        """Close all connections; no request may be under way."""
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
    """Requests that are sent at once."""

    def __init__(self, nodes: Nodes, transfers: Transfers, requests: Sequence[ShardRequest], timeout: float) -> None:
        self._nodes, self._transfers, self._hedging = nodes, transfers, nodes.hedging
        self._started = time.monotonic()
        self._deadline = self._started + timeout
        self._alive_seconds = max(_ALIVE_SHARE * timeout, _ALIVE_LEAST)
        self._latest_start = self._deadline - min(self._alive_seconds, timeout / 2)  # in time to be answered
        self._answers: list[bytes | None] = [None] * len(requests)
        self._pending = {
            place: _PendingRequest(one, nodes.replicas(one.generation, one.shard)) for place, one in enumerate(requests)
        }
        self._under_way: dict[Transfer, _Sent] = {}
        self._pings: dict[Transfer, Node] = {}
        self._ping_again: dict[Node, float] = {}  # not before; inf: it is being pinged, or has answered

    def answers(self) -> list[bytes | None]:
        """Send the requests, and wait for the answers."""
        try:
            for place in list(self._pending):
                self._send(place)
            while self._pending and (now := time.monotonic()) < self._deadline:
                for transfer in self._transfers.wait(self._next_event() - now):
                    self._take(transfer)
                self._ping()
                self._hedge()
        finally:
            self._cancel_pending()
        return self._answers

    def _next_event(self) -> float:
        hedges = [one.hedge_at for one in self._pending.values() if one.replicas]
        pings = [self._ping_at(sent) for sent in self._under_way.values()]
        return min([self._deadline, *hedges, *pings])

    def _send(self, place: int) -> None:
        """Send a request to the next replica; without one, it stays unanswered unless it is under way."""
        pending = self._pending[place]
        if not pending.replicas:
            if not pending.under_way:
                del self._pending[place]
            return
        node, request = pending.replicas.pop(0), pending.request
        now = time.monotonic()
        timeout = max(self._deadline - now, 0.0) + _SPARE
        transfer = self._transfers.start(Request(node.url + request.path, request.body, timeout, self._alive_seconds))
        self._nodes.begin(node, request.method)
        self._hedging.sent()
        pending.under_way += 1
        pending.latest = node
        pending.hedge_at = now + self._hedging.delay(request.method)
        self._under_way[transfer] = _Sent(pending, place, node, transfer)

    def _hedge(self) -> None:
        now = time.monotonic()
        for place, pending in list(self._pending.items()):
            if pending.replicas and pending.hedge_at <= now and pending.latest is not None:
                if self._hedging.take():
                    self._nodes.hedged(pending.latest)
                    self._send(place)
                else:
                    pending.hedge_at = now + self._hedging.delay(pending.request.method)

    def _ping(self) -> None:
        """Ping the nodes whose answers are late, and another one if no node has answered yet."""
        now = time.monotonic()
        late = {sent.node for sent in self._under_way.values() if self._ping_at(sent) <= now}
        if late and not self._has_heard():
            late.update(self._nodes.witnesses({*late, *self._pings.values()}))
        for node in late:
            ping = Request(node.url + FACTS, None, self._alive_seconds, self._alive_seconds)
            self._pings[self._transfers.start(ping)] = node
            self._ping_again[node] = math.inf

    def _ping_at(self, sent: _Sent) -> float:
        """When to ping the node of a request that is still under way."""
        return self._ping_again.get(sent.node, sent.transfer.started + _LATE)

    def _has_heard(self) -> bool:
        """Whether some node has answered anything since the requests were sent."""
        return self._nodes.heard_at >= self._started

    def _take(self, transfer: Transfer) -> None:
        """Use what has ended; a request may have been answered by another replica a moment before."""
        if (node := self._pings.pop(transfer, None)) is not None:
            if transfer.status:
                self._nodes.heard()
            elif self._has_heard():
                self._abandon(node)
            else:  # no node answers: the fault may be on this side
                self._ping_again[node] = transfer.started + self._alive_seconds
        elif (sent := self._under_way.get(transfer)) is not None:
            self._complete(sent)

    def _complete(self, sent: _Sent) -> None:
        """Store an answer, or send the request to the next replica after a failure."""
        self._end(sent)
        if sent.transfer.status == 200:
            self._nodes.answered(sent.pending.request)
            self._hedging.record(sent.pending.request.method, sent.transfer.seconds)
            self._answers[sent.place] = sent.transfer.body
            del self._pending[sent.place]
            for other in [one for one in self._under_way.values() if one.pending is sent.pending]:
                self._cancel(other)
            return
        self._record_failure(sent.node, sent.transfer)
        self._send(sent.place)

    def _record_failure(self, node: Node, transfer: Transfer) -> None:
        """Count a failure; without an answer, or without access, the node is down until it answers a probe."""
        kind = _KINDS.get(transfer.status, "error")
        text = transfer.problem or transfer.body[:_MOST_TEXT].decode(errors="replace")
        problem = f"it answers {transfer.status}: {text}" if transfer.status else text
        if kind == "error":
            logger.error("node %s: %s", node.url, problem)
        self._nodes.failed(node, kind, problem, is_down=kind in _DOWN)

    def _abandon(self, node: Node) -> None:
        """A node does not answer a ping: send its requests to other replicas."""
        for sent in [one for one in self._under_way.values() if one.node is node]:
            self._cancel(sent)
            self._nodes.failed(node, "timeout", "it answers neither a request nor a ping", is_down=True)
            self._send(sent.place)

    def _end(self, sent: _Sent) -> None:
        del self._under_way[sent.transfer]
        sent.pending.under_way -= 1
        self._nodes.end(sent.node)

    def _cancel(self, sent: _Sent) -> None:
        """Cancel a request to one node."""
        self._end(sent)
        self._hedging.record(sent.pending.request.method, time.monotonic() - sent.transfer.started)
        self._transfers.cancel(sent.transfer)

    def _cancel_pending(self) -> None:
        """Cancel everything that is under way at the deadline; a hedge sent just before it is no fault of its node."""
        is_late = time.monotonic() >= self._deadline
        for sent in list(self._under_way.values()):
            self._cancel(sent)
            if is_late and sent.transfer.started <= self._latest_start:
                self._nodes.timed_out(sent.node, sent.pending.request)
        for ping in self._pings:
            self._transfers.cancel(ping)
