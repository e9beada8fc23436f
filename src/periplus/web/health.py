"""The health check of the search site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus.site.error_pages import JSON
from periplus.site.metrics import Metrics
from periplus.web.engine_port import Engine
from periplus.web.metrics_route import is_local


class NodeHealth(NamedTuple):
    """The state of one shard node."""

    address: str
    is_up: bool
    problem: str  # why it is down, or gets no requests
    shards: tuple[int, ...]


class ClusterHealth(NamedTuple):
    """The state of the shard nodes of a broker."""

    shards: int
    missing: tuple[int, ...]  # shards that no node can search now
    nodes: tuple[NodeHealth, ...]

    @property
    def status(self) -> str:
        """The state of the broker."""
        if not self.missing:
            return "ok"
        return "partial" if len(self.missing) < self.shards else "unavailable"

    def shown(self, *, with_addresses: bool) -> dict[str, Any]:
        """What the health check tells; the addresses of nodes are for this machine only."""
        up = sum(node.is_up for node in self.nodes)
        found = {
            "shards": self.shards,
            "missing_shards": self.missing,
            "nodes_up": up,
            "nodes_down": len(self.nodes) - up,
        }
        return found | ({"nodes": [node._asdict() for node in self.nodes]} if with_addresses else {})


@dataclass(frozen=True, slots=True)
class Cluster:
    """What a broker knows about its shard nodes."""

    health: Callable[[], ClusterHealth]
    counters: Callable[[], Mapping[tuple[str, ...], float]]  # for /metrics, by name and labels

    def measure(self, metrics: Metrics) -> None:
        """Add the figures of the nodes to the metrics."""
        metrics.counters(self.counters)
        for place, node in enumerate(self.health().nodes):
            metrics.gauge("periplus_node_up", partial(self._is_up, place), node.address)

    def _is_up(self, place: int) -> float:
        return float(self.health().nodes[place].is_up)


class HealthCheck:
    """The handler of `/healthz`."""

    def __init__(self, engine: Engine, cluster: Cluster | None = None) -> None:
        """*cluster*: the shard nodes of a broker."""
        self._engine, self._cluster = engine, cluster

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/healthz", self.health)]

    async def health(self, request: Request) -> Response:
        """Tells monitoring tools the state of the index; the log names a damaged file.

        A broker that misses some shards still answers, with `partial`; without any shard it is of no use.
        """
        engine, is_damaged = self._engine, self._engine.is_damaged
        status = "damaged" if is_damaged else "ok"
        state: dict[str, Any] = {"generation": engine.generation, "documents": engine.documents}
        if self._cluster is not None:
            found = self._cluster.health()
            status = found.status if status == "ok" else status
            state |= found.shown(with_addresses=is_local(request))
        headers = {"content-type": JSON, "cache-control": "no-store"}
        is_useless = status in {"damaged", "unavailable"}
        return Response(orjson.dumps({"status": status} | state), 503 if is_useless else 200, headers)
