"""Monitoring tools learn whether the site can answer, and a broker whether its nodes can."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from periplus.config import Serving
from periplus.web.app import Sources, create_app
from periplus.web.health import Cluster, ClusterHealth, NodeHealth
from web.engines import FakeEngine, FakeLibrary
from web.serving import Site, serving

UP = NodeHealth("http://10.0.0.1:8081", True, "", (0, 1))
DOWN = NodeHealth("http://10.0.0.2:8081", False, "Connection refused", (2, 3))
COUNTERS: dict[tuple[str, ...], float] = {("periplus_node_calls_total", UP.address, "candidates"): 7.0}


def broker(site_shards: int, missing: Sequence[int]) -> Sources:
    engine = FakeEngine()
    cluster = Cluster(lambda: ClusterHealth(site_shards, tuple(missing), (UP, DOWN)), lambda: COUNTERS)
    return Sources(engine, FakeLibrary(engine), cluster=cluster)


def figures(site: Site, name: str) -> list[str]:
    return [line for line in site.get("/metrics").text.splitlines() if line.startswith(name)]


@pytest.mark.parametrize(
    ("missing", "status", "code"), [((), "ok", 200), ((2, 3), "partial", 200), ((0, 1, 2, 3), "unavailable", 503)]
)
def test_a_broker_tells_which_shards_are_missing(missing: Sequence[int], status: str, code: int) -> None:
    with serving(create_app(broker(4, missing), Serving())) as site:
        answer = site.get("/healthz")
    assert answer.status == code
    assert answer.json == {
        "status": status,
        "generation": 7,
        "documents": 12_345,
        "shards": 4,
        "missing_shards": list(missing),
        "nodes_up": 1,
        "nodes_down": 1,
        "nodes": [
            {"address": UP.address, "is_up": True, "problem": "", "shards": [0, 1]},
            {"address": DOWN.address, "is_up": False, "problem": "Connection refused", "shards": [2, 3]},
        ],
    }


def test_readers_of_a_public_site_do_not_learn_the_addresses_of_nodes() -> None:
    with serving(create_app(broker(4, [2]), Serving())) as site:
        found = site.get("/healthz", {"x-forwarded-for": "203.0.113.9"})
    assert "10.0.0" not in found.text
    assert found.json["nodes_down"] == 1


def test_the_metrics_of_a_broker_have_its_nodes() -> None:
    with serving(create_app(broker(4, []), Serving())) as site:
        assert figures(site, "periplus_node_calls") == [
            f'periplus_node_calls_total{{node="{UP.address}",method="candidates"}} 7'
        ]
        assert figures(site, "periplus_node_up{") == [
            f'periplus_node_up{{node="{UP.address}"}} 1',
            f'periplus_node_up{{node="{DOWN.address}"}} 0',
        ]
