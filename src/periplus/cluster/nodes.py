"""Which shard nodes answer, and what does each have?

A node that fails a request or a probe is *down*: no request goes there. A thread probes every node once a second, a
node that is down less and less often, and at once when a request has failed. A node is up again when it answers.
"""

from __future__ import annotations

import logging
import random
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from threading import Event, Lock, Thread
from typing import NamedTuple

from periplus.cluster.protocol import FACTS, NodeFacts
from periplus.cluster.record_codec import WireError, decode
from periplus.cluster.transfers import Request, Transfer, Transfers

logger = logging.getLogger("periplus.cluster")

_PROBE_SECONDS = 1.0  # between two probes of a node that is up
_START_SECONDS = 5.0  # for the first probes: a broker that starts has nobody to answer yet
_CHECK_SECONDS = 0.2  # between two looks at which node is to be probed
_LONGEST_PAUSE = 15.0  # seconds between two probes of a node that is down
_REMEMBERED = 256  # durations of the latest answers to one kind of request
_SLOW = 0.95  # quantile of these durations after which a replica is asked, too
_FIRST_DELAY = 0.05  # seconds, before enough answers were measured
_ENOUGH = 32  # answers
_SHORTEST_DELAY, _LONGEST_DELAY = 0.005, 0.5  # seconds


class NodeState(NamedTuple):
    """The state of a node for health check and metrics."""

    url: str
    is_up: bool
    problem: str  # why it is down
    shards: tuple[int, ...]
    generations: tuple[str, ...]


@dataclass(slots=True)
class Node:
    """A shard node; its fields are read and written under the lock of the table."""

    url: str
    facts: NodeFacts | None = None
    problem: str = "not asked yet"  # empty: the node is up
    pause: float = 0.0  # seconds until the next probe
    probe_at: float = 0.0
    under_way: int = 0  # requests
    other_weights: str = ""  # of the node, when they differ from those of the broker

    def serves(self, generation: str, shard: int) -> bool:
        """Whether a request may go to this node."""
        facts = self.facts
        return not self.problem and facts is not None and shard in facts.shards and generation in facts.generations


@dataclass(slots=True)
class _Durations:
    """How long answers to one kind of request take."""

    latest: deque[float] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    delay: float = _FIRST_DELAY  # after which a replica is asked, too

    def add(self, seconds: float) -> None:
        self.latest.append(seconds)
        if len(self.latest) >= _ENOUGH and len(self.latest) % 16 == 0:
            slow = sorted(self.latest)[int(_SLOW * len(self.latest))]
            self.delay = min(max(slow, _SHORTEST_DELAY), _LONGEST_DELAY)


class Nodes:
    """The nodes of a broker; safe to share between threads."""

    def __init__(self, urls: Sequence[str], token: str = "", ca_file: str = "", timeout: float = 2.0) -> None:
        """*token*: the secret that the nodes expect; *ca_file*: as the setting `fetch.ca_file`.

        *timeout*: seconds that a node has to answer a probe.
        """
        self._timeout = timeout
        self._headers, self._ca_file = ([f"Authorization: Bearer {token}"] if token else []), ca_file
        self._nodes = [Node(url.rstrip("/")) for url in urls]
        self._lock, self._closed, self._wanted = Lock(), Event(), Event()
        self._durations: dict[str, _Durations] = {}
        self._in_use = self._weights = ""  # ids of the generation that the broker searches, and of its weights
        self._counts: Counter[tuple[str, ...]] = Counter()  # by name of the metric and labels
        self._random = random.Random()  # noqa: S311  # spreads requests over replicas
        self._thread = Thread(target=self._watch, name="nodes", daemon=True)

    def start(self, timeout: float = _START_SECONDS) -> None:
        """Probe all nodes once, with a longer *timeout*, and then again and again in a thread."""
        with closing(self.transfers()) as transfers:
            self._probe(transfers, timeout)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._closed.set()
        self._wanted.set()
        if self._thread.is_alive():
            self._thread.join()

    def transfers(self) -> Transfers:
        """New connections to the nodes, for one thread."""
        return Transfers(self._headers, self._ca_file)

    def use(self, generation: str, weights: str) -> None:
        """Tell the nodes with every probe that this generation is in use, so that they keep it open.

        *weights*: identifies the weights of the broker; a node with others selects other candidates.
        """
        self._in_use, self._weights = generation, weights

    # -- requests ------------------------------------------------------------------------------------------------

    def replicas(self, generation: str, shard: int) -> list[Node]:
        """The nodes that can answer, those with the fewest requests under way first."""
        with self._lock:
            found = [node for node in self._nodes if node.serves(generation, shard)]
            self._random.shuffle(found)
            return sorted(found, key=lambda node: node.under_way)

    def available(self, generation: str) -> set[int]:
        """The shards of a generation that some node can search."""
        with self._lock:
            having = [node.facts for node in self._nodes if node.facts is not None and not node.problem]
        return {shard for facts in having if generation in facts.generations for shard in facts.shards}

    def begin(self, node: Node, method: str) -> None:
        """Count a request to a node."""
        with self._lock:
            node.under_way += 1
            self._counts["periplus_node_calls_total", node.url, method] += 1

    def end(self, node: Node) -> None:
        """A request to a node has ended."""
        with self._lock:
            node.under_way -= 1

    def answered(self, method: str, seconds: float) -> None:
        """Remember how long an answer took."""
        with self._lock:
            self._durations.setdefault(method, _Durations()).add(seconds)

    def hedge_delay(self, method: str) -> float:
        """Seconds after which another replica is asked, too: nearly all answers come earlier."""
        found = self._durations.get(method)
        return _FIRST_DELAY if found is None else found.delay

    def hedged(self, node: Node) -> None:
        """Count a request to one more replica because a node is slow."""
        with self._lock:
            self._counts["periplus_node_hedges_total", node.url] += 1

    def failed(self, node: Node, kind: str, problem: str, *, is_down: bool) -> None:
        """Count a failure. *is_down*: ask this node nothing more until it has answered a probe."""
        with self._lock:
            self._counts["periplus_node_failures_total", node.url, kind] += 1
            if is_down:
                self._mark_down(node, problem)
            node.probe_at = 0.0
        self._wanted.set()

    # -- state ----------------------------------------------------------------------------------------------------

    def states(self) -> list[NodeState]:
        """The state of every node."""
        with self._lock:
            return [_state(node) for node in self._nodes]

    def figures(self) -> dict[tuple[str, ...], float]:
        """Counters for the metrics, by name and labels."""
        with self._lock:
            return dict(self._counts)

    # -- probes ---------------------------------------------------------------------------------------------------

    def _watch(self) -> None:
        with closing(self.transfers()) as transfers:
            while not self._closed.is_set():
                self._probe(transfers, self._timeout)
                self._wanted.wait(_CHECK_SECONDS)
                self._wanted.clear()

    def _probe(self, transfers: Transfers, timeout: float) -> None:
        """Ask the nodes whose turn it is what they have."""
        now = time.monotonic()
        with self._lock:
            due = [node for node in self._nodes if node.probe_at <= now]
        request = f"{FACTS}?generation={self._in_use}" if self._in_use else FACTS
        asked = {id(transfers.start(Request(node.url + request, None, timeout))): node for node in due}
        while asked:
            for transfer in transfers.wait(timeout):
                self._record_probe(asked.pop(id(transfer)), transfer)

    def _record_probe(self, node: Node, transfer: Transfer) -> None:
        facts, problem = _read_facts(transfer)
        with self._lock:
            if problem:
                self._mark_down(node, problem)
            else:
                if node.problem:
                    logger.info("node %s answers", node.url)
                self._compare_weights(node, facts)
                node.facts, node.problem, node.pause = facts, "", _PROBE_SECONDS
            node.probe_at = time.monotonic() + node.pause

    def _compare_weights(self, node: Node, facts: NodeFacts | None) -> None:
        """Warn once of a node that ranks by other weights."""
        other = facts.weights if facts is not None and self._weights and facts.weights != self._weights else ""
        if other and other != node.other_weights:
            logger.warning("node %s has other weights in [ranking] than this broker", node.url)
        node.other_weights = other

    def _mark_down(self, node: Node, problem: str) -> None:
        """Called under the lock."""
        if node.problem != problem:
            logger.warning("node %s is down: %s", node.url, problem)
        node.pause = min(2 * node.pause, _LONGEST_PAUSE) if node.problem else _PROBE_SECONDS
        node.problem = problem


def _read_facts(transfer: Transfer) -> tuple[NodeFacts | None, str]:
    """What a node has, or why that is not known."""
    if transfer.status != 200:
        return None, transfer.problem or f"it answers {transfer.status}: {transfer.body[:200].decode(errors='replace')}"
    try:
        return decode(NodeFacts, transfer.body), ""
    except WireError as error:
        return None, f"it is not a shard node, or runs another release: {error}"


def _state(node: Node) -> NodeState:
    facts = node.facts or NodeFacts("", (), (), "")
    return NodeState(node.url, not node.problem, node.problem, facts.shards, facts.generations)
