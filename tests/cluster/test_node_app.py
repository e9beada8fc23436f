"""A shard node answers its brokers, and refuses everything else with a sentence."""

from __future__ import annotations

import random
import typing
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import count
from types import SimpleNamespace

import pytest

from cluster.made_nodes import GENERATION, MadeNode, served_nodes
from periplus.cluster.node_app import require_token
from periplus.cluster.protocol import (
    FACTS,
    MOST_BLOCKS,
    MOST_REQUEST_BYTES,
    MOST_RESULTS,
    MOST_TEXTS,
    PREFIX,
    NodeFacts,
)
from periplus.cluster.record_codec import decode
from periplus.cluster.remote_shards import METHODS
from periplus.config import Serving
from periplus.errors import UsageError
from periplus.search.shards.port import MatchSet, ShardSearch, Term
from periplus.site.listener import listen
from web.serving import Answer, Site

FIND = METHODS["find"].encode_arguments("http://here.test/")


@pytest.fixture(scope="module")
def node() -> Iterator[MadeNode]:
    with served_nodes([0, 2]) as nodes:
        yield nodes[0]


def ask(site: Site, body: bytes, method: str = "find", shard: object = 0, generation: str = GENERATION) -> Answer:
    return site.get(f"{PREFIX}/{generation}/{shard}/{method}", method="POST", body=body)


def test_a_node_tells_what_it_has(node: MadeNode) -> None:
    facts = decode(NodeFacts, node.site.get(FACTS).body)
    assert (facts.shards, facts.generations) == ((0, 2), (GENERATION,))


def test_a_request_gets_its_answer(node: MadeNode) -> None:
    assert decode(METHODS["find"].answer, ask(node.site, FIND, shard=2).body) == 2


@pytest.mark.parametrize(
    ("generation", "shard"), [("bb" * 32, 0), (GENERATION, 1), (GENERATION, 99)], ids=["generation", "shard", "number"]
)
def test_a_node_says_that_it_has_not_what_is_asked(node: MadeNode, generation: str, shard: int) -> None:
    assert ask(node.site, FIND, shard=shard, generation=generation).status == 410


@pytest.mark.parametrize("method", ["nothing", "__init__", "close", "facts/..", "Find"])
def test_only_requests_of_the_port_are_answered(node: MadeNode, method: str) -> None:
    assert ask(node.site, FIND, method).status == 404


def test_a_request_is_sent_with_post(node: MadeNode) -> None:
    assert node.site.get(f"{PREFIX}/{GENERATION}/0/find").status == 405


@pytest.mark.parametrize("body", [b"", b"{}", b"\0" * 100, b"\xff" * 100, FIND[:-3], b"GET / HTTP/1.1\r\n\r\n"])
def test_garbage_is_refused(node: MadeNode, body: bytes) -> None:
    answer = ask(node.site, body)
    assert (answer.status, answer.text[:27]) == (400, "The request cannot be read:")


def test_changed_requests_are_answered_or_refused(node: MadeNode) -> None:
    chosen, request = random.Random(3), METHODS["frequencies"].encode_arguments([Term("body_en", "harbour")] * 3)
    found = set()
    for _ in range(100):
        changed = bytearray(request)
        for _ in range(chosen.randint(1, 5)):
            changed[chosen.randrange(len(changed))] = chosen.randrange(256)
        found.add(ask(node.site, bytes(changed), "frequencies").status)
    assert found == {200, 400}
    assert ask(node.site, request, "frequencies").status == 200


def test_a_request_that_is_too_long_is_refused(node: MadeNode) -> None:
    assert ask(node.site, bytes(MOST_REQUEST_BYTES + 1)).status == 413


SEARCH = ShardSearch("harbour", "auto", ("harbour",), (), (("en", 1.0),), frozenset())


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("candidates", (SEARCH, 10**13, ())),
        ("candidates", (SEARCH, MOST_BLOCKS + 1, ())),
        ("candidates", (SEARCH, 0, ())),
        ("candidates", (SEARCH, -1, ())),
        ("newest", (SEARCH, MatchSet.NEWS, 10**13)),
        ("newest", (SEARCH, MatchSet.NEWS, 0)),
        ("site", ("site1.test", 10**13)),
        ("hits", (SEARCH, [0] * (MOST_RESULTS + 1), MatchSet.RESULTS)),
        ("among", (SEARCH, [0] * (MOST_RESULTS + 1))),
        ("texts", ([0] * (MOST_TEXTS + 1),)),
        ("heads_of", (["http://here.test/"] * (MOST_RESULTS + 1),)),
    ],
)
def test_a_request_for_more_than_a_broker_ever_wants_is_refused(
    node: MadeNode, method: str, arguments: tuple[object, ...]
) -> None:
    answer = ask(node.site, METHODS[method].encode_arguments(*arguments), method)
    assert (answer.status, answer.text[:27]) == (400, "The request cannot be read:")


def test_every_number_of_the_port_that_reserves_memory_has_a_bound() -> None:
    bounded = {"blocks", "most"}
    for method in METHODS.values():
        hints = list(zip(list(method.signature.parameters)[1:], typing.get_args(method.arguments), strict=True))
        for name, kind in hints:
            assert kind is not int or name in bounded | {"number"}, f"{method.name}: {name}"


def test_a_request_about_what_is_not_in_the_index_is_refused(
    node: MadeNode, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def beyond() -> None:
        raise IndexError("index 7 is out of bounds")

    monkeypatch.setattr(node.made[0], "before", beyond)
    assert ask(node.site, FIND).status == 400
    assert "out of bounds" in caplog.text


def test_a_web_page_of_another_name_cannot_ask_a_node_on_loopback(node: MadeNode) -> None:
    refused = node.site.get(FACTS, {"host": "attacker.test"})
    assert (refused.status, refused.text) == (
        403,
        "This node answers to a loopback name only, because it has no token.",
    )


@pytest.mark.parametrize("sent", ["", "Bearer wrong", "Bearer righ", "Bearer right ", "right", "Basic right"])
def test_a_node_with_a_token_answers_to_nothing_else(sent: str) -> None:
    with served_nodes([0], token="right") as (node,):
        headers = {"authorization": sent} if sent else {}
        for path, method in ((FACTS, "GET"), (f"{PREFIX}/{GENERATION}/0/find", "POST")):
            assert node.site.get(path, headers, method, FIND).status == 401
        assert node.site.get(FACTS, {"authorization": "Bearer right", "host": "node.test"}).status == 200
        assert node.site.get("/healthz").status == 200


def test_a_request_waits_in_the_queue_as_long_as_a_broker_waits_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count(0.0, 30.0)  # a request waits 30 seconds in the queue
    monkeypatch.setattr("periplus.cluster.node_app.time", SimpleNamespace(monotonic=clock.__next__, perf_counter=float))
    with served_nodes([0], timeout=60.0) as (patient,), served_nodes([0], timeout=20.0) as (hasty,):
        assert ask(patient.site, FIND).status == 200
        assert ask(hasty.site, FIND).status == 503


def test_health_and_metrics(node: MadeNode) -> None:
    ask(node.site, FIND)
    health = node.site.get("/healthz")
    assert health.json == {"status": "ok", "generation": 1, "shards": [0, 2], "documents": 7}
    text = node.site.get("/metrics").text
    assert f'periplus_http_requests_total{{route="{PREFIX}/find",status="200"}}' in text
    assert "periplus_index_documents 7" in text


@pytest.mark.parametrize(
    ("address", "token", "allowed"), [("127.0.0.1", "", True), ("0.0.0.0", "", False), ("0.0.0.0", "x", True)]
)
def test_a_node_that_other_machines_reach_needs_a_token(address: str, token: str, allowed: bool) -> None:
    settings = Serving.model_validate({"node_token": token})
    with listen(address, 0) as listener, nullcontext() if allowed else pytest.raises(UsageError, match="needs a token"):
        require_token(settings, listener)
