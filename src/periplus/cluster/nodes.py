"""Which shard nodes answer, and what does each have?

A node that fails a request or a probe is *down*: it gets no requests. A thread probes every node once a second, a node
that is down less and less often, and at once when a request has failed. A node is up again when it answers.

A node can answer probes and yet hang on requests, when its worker threads or its disk are stuck. So a node that did not
answer a request in time must also answer a request of the same method, which the thread sends.
"""

from __future__ import annotations

import logging
import random
import re
import time
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import NamedTuple

from periplus import __version__
from periplus.cluster.hedging import HedgePolicy
from periplus.cluster.protocol import BUSY, FACTS, NodeFacts, ShardRequest
from periplus.cluster.record_codec import WireError, decode
from periplus.cluster.transfers import Request, Transfer, Transfers

logger = logging.getLogger("periplus.cluster")

_PROBE_SECONDS = 1.0  # between two probes of a node that is up
_START_SECONDS = 5.0  # for the first probes: a broker that starts answers no searches yet
_CHECK_SECONDS = 0.2  # between two looks at which nodes are to be probed
_FIRST_PAUSE = 0.5  # seconds; doubled after each failed probe of a node that is down
_LONGEST_PAUSE = 15.0  # seconds between two probes of a node that is down
_HANGS = "it does not answer requests in time"
_NO_NODE = "it is not a shard node, or runs another release"
OTHER_GENERATION = "it serves another collection, or has not loaded the generation that this broker searches"
_MOST_TEXT = 200  # bytes of an answer in the log
_DIGITS = re.compile(r"\d+")


class NodeState(NamedTuple):
    """The state of a node for health check and metrics."""

    url: str
    is_up: bool
    problem: str  # why it is down
    shards: tuple[int, ...]
    generations: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Node:
    """A shard node; its fields are read and written under the lock of the table."""

    url: str
    facts: NodeFacts | None = None
    problem: str = "no probe was sent yet"  # empty: the node is up
    pause: float = _FIRST_PAUSE  # seconds until the next probe
    probe_at: float = 0.0
    under_way: int = 0  # requests
    trial: ShardRequest | None = None  # what the node must answer before it is up again
    other_weights: str = ""  # of the node, when they differ from those of the broker
    other_release: str = ""  # of the node, when it differs from that of the broker
    has_other_generation: bool = False

    def serves(self, generation: str, shard: int) -> bool:
        """Whether a request may go to this node."""
        facts = self.facts
        return not self.problem and facts is not None and shard in facts.shards and generation in facts.generations


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
        self.hedging = HedgePolicy()
        self._answered: dict[int, dict[str, ShardRequest]] = {}  # the latest, by shard and method
        self._probes: dict[Transfer, Node] = {}  # under way; of the thread alone
        self._in_use = self._weights = ""  # ids of the generation that the broker searches, and of its weights
        self._shards, self._missing = 0, set[int]()  # of that generation; those that no node can search, as logged
        self.heard_at = 0.0  # when a node has answered anything
        self._counts: Counter[tuple[str, ...]] = Counter()  # by name of the metric and labels
        self._random = random.Random()  # noqa: S311  # spreads requests over replicas
        self._thread = Thread(target=self._watch, name="nodes", daemon=True)

    def start(self, timeout: float | None = None) -> None:
        """Probe all nodes once, with a longer *timeout*, and then again and again in a thread."""
        timeout = max(_START_SECONDS, self._timeout) if timeout is None else timeout
        with closing(self.transfers()) as transfers:
            self._start_probes(transfers, timeout)
            while self._probes:
                self._end_probes(transfers, timeout, timeout)
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

    def use(self, generation: str, shards: int, weights: str) -> None:
        """Tell the nodes with every probe that this generation is in use, so that they keep it open.

        *shards*: their number. *weights*: identifies the weights of the broker; a node with others selects other
        candidates.
        """
        self._in_use, self._shards, self._weights = generation, shards, weights
        self._report_missing()

    # -- requests ------------------------------------------------------------------------------------------------

    def replicas(self, generation: str, shard: int) -> list[Node]:
        """The nodes that can answer, those with the fewest requests under way first."""
        with self._lock:
            found = [node for node in self._nodes if node.serves(generation, shard)]
            self._random.shuffle(found)
            return sorted(found, key=lambda node: node.under_way)

    def available(self, generation: str) -> set[int]:
        """The shards of a generation that some node can search."""
        return {shard for facts in self._having(generation) for shard in facts.shards}

    def rank_alike(self, generation: str, weights: str) -> bool:
        """Whether all nodes that search a generation have these weights and the release of this broker."""
        return all(
            (facts.release, facts.weights_of(generation)) == (__version__, weights)
            for facts in self._having(generation)
        )

    def _having(self, generation: str) -> list[NodeFacts]:
        """The nodes that are up and have a generation."""
        with self._lock:
            up = [node.facts for node in self._nodes if node.facts is not None and not node.problem]
        return [facts for facts in up if generation in facts.generations]

    def witnesses(self, besides: Collection[Node]) -> list[Node]:
        """One node that is up, none of *besides*, if there is any."""
        with self._lock:
            found = [node for node in self._nodes if not node.problem and node not in besides]
            return self._random.sample(found, min(len(found), 1))

    def begin(self, node: Node, method: str) -> None:
        """Count a request to a node."""
        with self._lock:
            node.under_way += 1
            self._counts["periplus_node_calls_total", node.url, method] += 1

    def end(self, node: Node) -> None:
        """A request to a node has ended."""
        with self._lock:
            node.under_way -= 1

    def answered(self, request: ShardRequest) -> None:
        """Remember a request that was answered: a node that hangs must answer it before it gets others."""
        with self._lock:
            self._answered.setdefault(request.shard, {})[request.method] = request
        self.heard()

    def heard(self) -> None:
        """A node has answered: the broker and its network do not stand still."""
        self.heard_at = time.monotonic()

    def hedged(self, node: Node) -> None:
        """Count a request to one more replica because a node is slow."""
        with self._lock:
            self._counts["periplus_node_hedges_total", node.url] += 1

    def failed(self, node: Node, kind: str, problem: str, *, is_down: bool) -> None:
        """Count a failure. *is_down*: the node gets no requests until it has answered a probe."""
        with self._lock:
            self._counts["periplus_node_failures_total", node.url, kind] += 1
            if not is_down:
                node.probe_at = 0.0
            elif not node.problem:
                self._mark_down(node, problem)
                node.pause, node.probe_at = _FIRST_PAUSE, 0.0
        self._wanted.set()

    def timed_out(self, node: Node, request: ShardRequest) -> None:
        """A node has not answered a request in time: it is down until it answers one of the same method.

        That is one that was answered before: the request itself may be slow on every node. Before the first answer to
        this method it is one of another method, and before the first answer of the shard the request itself.
        """
        with self._lock:
            known = self._answered.get(request.shard, {})
            node.trial = known.get(request.method) or next(iter(known.values()), request)
        self.failed(node, "timeout", _HANGS, is_down=True)

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
                self._start_probes(transfers, self._timeout)
                if self._probes:
                    self._end_probes(transfers, self._timeout, _CHECK_SECONDS)
                    self._report_missing()
                else:
                    self._wanted.wait(_CHECK_SECONDS)
                self._wanted.clear()

    def _start_probes(self, transfers: Transfers, timeout: float) -> None:
        """Ask the nodes whose turn it is what they have."""
        now, under_way = time.monotonic(), set(self._probes.values())
        with self._lock:
            due = [node for node in self._nodes if node.probe_at <= now and node not in under_way]
        path = f"{FACTS}?generation={self._in_use}" if self._in_use else FACTS
        for node in due:
            self._probes[transfers.start(Request(node.url + path, None, timeout, timeout))] = node

    def _end_probes(self, transfers: Transfers, timeout: float, seconds: float) -> None:
        """Wait for answers to probes, at most some *seconds*; *timeout*: of further requests."""
        for transfer in transfers.wait(seconds):
            node = self._probes.pop(transfer)
            if transfer.request.body is not None:
                self._record_trial(node, transfer)
            elif (trial := self._record_probe(node, transfer)) is not None:
                further = Request(node.url + trial.path, trial.body, timeout, timeout)
                self._probes[transfers.start(further)] = node

    def _record_probe(self, node: Node, transfer: Transfer) -> ShardRequest | None:
        """Store what a node has; returns a request that it must answer, too."""
        facts, problem = _read_facts(transfer)
        with self._lock:
            if facts is None:
                self._probe_failed(node, problem)
                return None
            self.heard()
            self._compare_weights(node, facts)
            self._compare_release(node, facts)
            self._compare_generation(node, facts)
            node.facts = facts
            if node.trial is None:
                self._mark_up(node)
            return node.trial

    def _record_trial(self, node: Node, transfer: Transfer) -> None:
        """Every answer but *busy* will do: the generation of the request may be gone."""
        with self._lock:
            if transfer.status in {0, BUSY}:
                self._probe_failed(node, _HANGS)
            else:
                node.trial = None
                self._mark_up(node)

    def _compare_weights(self, node: Node, facts: NodeFacts) -> None:
        """Warn once of a node that ranks by other weights."""
        weights = facts.weights_of(self._in_use)
        other = "" if weights == self._weights else weights
        if other and other != node.other_weights:
            logger.warning("node %s has other weights in [ranking] than this broker: results are not stored", node.url)
        node.other_weights = other

    def _compare_release(self, node: Node, facts: NodeFacts) -> None:
        """Warn once of a node that runs another release."""
        other = "" if facts.release == __version__ else facts.release
        if other and other != node.other_release:
            what = "node %s runs Periplus %s, this broker runs %s: results are not stored"
            logger.warning(what, node.url, other, __version__)
        node.other_release = other

    def _compare_generation(self, node: Node, facts: NodeFacts) -> None:
        """Warn once of a node that gets no requests because it has another generation."""
        is_other = bool(self._in_use) and self._in_use not in facts.generations
        if is_other and not node.has_other_generation:
            logger.warning("node %s gets no requests: %s", node.url, OTHER_GENERATION)
        node.has_other_generation = is_other

    def _report_missing(self) -> None:
        """Log which shards no node can search, when that changes."""
        missing = set(range(self._shards)) - self.available(self._in_use)
        if missing != self._missing:
            self._missing = missing
            if missing:
                numbers = ", ".join(map(str, sorted(missing)))
                logger.warning("no node can search shard %s of %d: results lack their pages", numbers, self._shards)
            else:
                logger.warning("every shard can be searched again")  # ends the warning above

    def _mark_up(self, node: Node) -> None:
        """Called under the lock."""
        if node.problem:
            logger.info("node %s answers", node.url)
        node.problem, node.pause = "", _PROBE_SECONDS
        node.probe_at = time.monotonic() + node.pause

    def _probe_failed(self, node: Node, problem: str) -> None:
        """Called under the lock. Failed requests do not make the pause longer: many fail in one outage."""
        node.pause = min(2 * node.pause, _LONGEST_PAUSE) if node.problem else _PROBE_SECONDS
        node.probe_at = time.monotonic() + node.pause
        self._mark_down(node, problem)

    def _mark_down(self, node: Node, problem: str) -> None:
        """Called under the lock. Messages of libcurl that differ in their milliseconds are logged once."""
        if _DIGITS.sub("", node.problem) != _DIGITS.sub("", problem):
            logger.warning("node %s is down: %s", node.url, problem)
        node.problem = problem


def _read_facts(transfer: Transfer) -> tuple[NodeFacts | None, str]:
    """What a node has, or why that is not known."""
    if transfer.status != 200:
        text = " ".join(transfer.body[:_MOST_TEXT].decode(errors="replace").split())
        is_page = transfer.status == 404 or text.startswith("<")
        refusal = f"{_NO_NODE} (status {transfer.status})" if is_page else f"it answers {transfer.status}: {text}"
        return None, transfer.problem or refusal
    try:
        return decode(NodeFacts, transfer.body), ""
    except WireError as error:
        return None, f"{_NO_NODE}: {error}"


def _state(node: Node) -> NodeState:
    facts = node.facts or NodeFacts("", (), (), ())
    return NodeState(node.url, not node.problem, node.problem, facts.shards, facts.generations)
