"""A broker gets answers from the nodes that give them, and from replicas of those that do not."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager

import pytest
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from cluster.made_nodes import GENERATION, MadeNode, served_nodes
from periplus import __version__
from periplus.cluster.fan_out import FanOut
from periplus.cluster.hedging import HedgePolicy
from periplus.cluster.nodes import Nodes
from periplus.cluster.protocol import NodeFacts
from periplus.cluster.record_codec import encode
from periplus.cluster.remote_shards import RemoteShards
from periplus.cluster.transfers import Request, Transfer, Transfers
from periplus.errors import DamagedFile
from periplus.search.shards.port import Term
from web.serving import serving

TERMS = [Term("body_en", "harbour"), Term("body_en", "ship")]
SHORT, LONG = 0.5, 30.0  # seconds


@contextmanager
def group_of(
    *urls: str, shards: int, timeout: float = LONG, token: str = "", start: float | None = None
) -> Iterator[tuple[RemoteShards, Nodes]]:
    with closing(Nodes(urls, token, timeout=min(timeout, 2.0))) as nodes, closing(FanOut(nodes)) as fan_out:
        nodes.start(LONG if start is None else start)
        yield RemoteShards(fan_out, GENERATION, shards, timeout), nodes


def bases(nodes: list[MadeNode]) -> list[str]:
    return [node.site.base for node in nodes]


def failures(nodes: Nodes) -> dict[str, float]:
    return {key[2]: count for key, count in nodes.figures().items() if key[0] == "periplus_node_failures_total"}


@pytest.fixture
def silent() -> Iterator[str]:
    """A node that accepts connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0), backlog=64)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def unreachable() -> Iterator[str]:
    """An address that drops the packets of new connections, as that of a machine without power does."""
    with ExitStack() as stack:
        listener = stack.enter_context(closing(socket.create_server(("127.0.0.1", 0), backlog=0)))
        for _ in range(2):  # as many as the kernel accepts for a program that does not
            client = stack.enter_context(closing(socket.socket()))
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


def test_every_shard_answers_with_its_own_numbers() -> None:
    with served_nodes([0, 1], [2]) as nodes, group_of(*bases(nodes), shards=3) as (group, _):
        assert group.ask(lambda shard: shard.frequencies(TERMS)) == {0: [0, 0], 1: [1, 1], 2: [2, 2]}
        assert group.ask(lambda shard: shard.find("http://here.test/"), [2, 1]) == {1: 1, 2: 2}
        assert group.ask(lambda shard: shard.find("http://there.test/"), {0}) == {0: None}


def test_a_call_may_ask_a_shard_several_things() -> None:
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2) as (group, _):
        found = group.ask(lambda shard: (shard.facts().documents, shard.find(url="http://here.test/")))
    assert found == {0: (10, 0), 1: (11, 1)}


def test_a_shard_without_a_node_is_missing() -> None:
    with served_nodes([0], [2]) as nodes, group_of(*bases(nodes), shards=3) as (group, _):
        assert group.ask(lambda shard: shard.find("")) == {0: None, 2: None}


def test_a_replica_takes_over_from_a_node_that_is_gone() -> None:
    with served_nodes([0, 1]) as staying, ExitStack() as stack:
        leaving = stack.enter_context(served_nodes([1, 2]))
        with group_of(*bases(leaving), *bases(staying), shards=3) as (group, table):
            assert set(group.ask(lambda shard: shard.find(""))) == {0, 1, 2}
            stack.close()
            for _ in range(4):  # the replicas take turns
                assert group.ask(lambda shard: shard.find("")) == {0: None, 1: None}
            assert [state.is_up for state in table.states()] == [False, True]
            assert failures(table)["connection"] >= 1


@pytest.fixture
def patient_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    """No node is pinged, however busy this machine is."""
    monkeypatch.setattr("periplus.cluster.fan_out._LATE", LONG)


@pytest.mark.usefixtures("patient_pings")
def test_a_node_that_does_not_answer_in_time_is_missing_and_asked_again_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    go_on = threading.Event()
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2, timeout=SHORT) as (group, table):
        nodes[1].made[0].before = go_on.wait
        assert group.ask(lambda shard: shard.find(""), [1]) == {}
        assert failures(table) == {"timeout": 1}
        assert "is down: it does not answer requests in time" in caplog.text
        go_on.set()
        wait_until(lambda: group.ask(lambda shard: shard.find("")) == {0: None, 1: None})


def test_a_node_that_hangs_is_found_by_its_probes_and_costs_no_time(silent: str) -> None:
    with served_nodes([0]) as nodes, group_of(*bases(nodes), silent, shards=2, start=SHORT) as (group, table):
        assert [state.is_up for state in table.states()] == [True, False]
        assert group.ask(lambda shard: shard.find("")) == {0: None}


@pytest.mark.slow
@pytest.mark.usefixtures("patient_pings")
def test_a_node_that_answers_probes_and_hangs_on_requests_costs_one_search_its_timeout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on, probes = threading.Event(), list[NodeFacts]()
    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1, timeout=SHORT) as (group, table):
        facts = nodes[0].shards.facts

        def counted(in_use: str = "") -> NodeFacts:
            probes.append(facts(in_use))
            return probes[-1]

        monkeypatch.setattr(nodes[0].shards, "facts", counted)
        wait_until(lambda: group.ask(lambda shard: shard.find("")) == {0: None})
        before = failures(table).get("timeout", 0)
        nodes[0].made[0].before = go_on.wait
        try:
            assert group.ask(lambda shard: shard.find("")) == {}
            answered = len(probes)
            wait_until(lambda: len(probes) >= answered + 2)
            for _ in range(4):
                assert group.ask(lambda shard: shard.find("")) == {}
            assert failures(table)["timeout"] == before + 1, "later searches did not ask the node"
        finally:
            go_on.set()
        wait_until(lambda: group.ask(lambda shard: shard.find("")) == {0: None})


@pytest.mark.usefixtures("patient_pings")
def test_a_request_that_is_slow_on_every_node_does_not_keep_the_nodes_down() -> None:
    never = threading.Event()
    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1, timeout=SHORT) as (group, _):
        wait_until(lambda: group.ask(lambda shard: shard.find("")) == {0: None})
        nodes[0].made[0].hangs_on = {"http://slow.test/": never}
        try:
            assert group.ask(lambda shard: shard.find("http://slow.test/")) == {}
            wait_until(lambda: group.ask(lambda shard: shard.find("")) == {0: None})
        finally:
            never.set()


def test_a_search_does_not_wait_for_a_node_that_answers_no_ping_either(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, timeout = threading.Event(), 5.0
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2, timeout=timeout) as (group, table):
        nodes[0].made[0].before = go_on.wait
        monkeypatch.setattr(nodes[0].shards, "facts", lambda in_use="": go_on.wait())  # the whole process stands still
        started = time.monotonic()
        try:
            assert group.ask(lambda shard: shard.find("")) == {1: None}
            assert time.monotonic() - started < timeout
            assert failures(table) == {"timeout": 1}
            assert not table.states()[0].is_up
        finally:
            go_on.set()


def after(go_on: threading.Event, facts: Callable[[str], NodeFacts]) -> Callable[[str], NodeFacts]:
    def answer(in_use: str = "") -> NodeFacts:
        go_on.wait()
        return facts(in_use)

    return answer


def test_when_no_node_answers_anything_the_search_waits_for_all_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2, timeout=5.0) as (group, table):
        for node in nodes:  # the processes stand still, as those of a broker and its nodes on one busy machine
            node.made[0].before = go_on.wait
            monkeypatch.setattr(node.shards, "facts", after(go_on, node.shards.facts))
        threading.Timer(1.0, go_on.set).start()
        assert group.ask(lambda shard: shard.find("")) == {0: None, 1: None}, "the first pings took 0.55 s"
        assert failures(table) == {}


@pytest.fixture
def quiet_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread of the broker probes no node that is up: only the request itself can hear from nodes."""
    monkeypatch.setattr("periplus.cluster.nodes._PROBE_SECONDS", 100 * LONG)


@pytest.mark.usefixtures("quiet_probes")
def test_a_request_to_one_shard_does_not_wait_for_a_dead_node_when_another_node_answers_a_ping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2, timeout=5.0) as (group, table):
        nodes[0].made[0].before = go_on.wait
        monkeypatch.setattr(nodes[0].shards, "facts", after(go_on, nodes[0].shards.facts))
        try:
            assert group.ask(lambda shard: shard.find(""), [0]) == {}
            assert table.states()[0].problem == "it answers neither a request nor a ping"
            assert (table.states()[1].is_up, failures(table)) == (True, {"timeout": 1})
        finally:
            go_on.set()


@pytest.mark.slow
@pytest.mark.usefixtures("quiet_probes")
def test_pings_that_fail_at_once_are_repeated_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, pings, begin, timeout = threading.Event(), list[Request](), Transfers.start, 5.0

    def start(self: Transfers, request: Request) -> Transfer:
        if request.body is not None:
            return begin(self, request)
        pings.append(request)
        return begin(self, request._replace(url="http://127.0.0.1:9/"))  # nobody listens

    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1, timeout=timeout) as (group, table):
        nodes[0].made[0].before = go_on.wait
        monkeypatch.setattr(Transfers, "start", start)
        threading.Timer(1.2, go_on.set).start()
        assert group.ask(lambda shard: shard.find("")) == {0: None}
        assert failures(table) == {}
    assert 1 <= len(pings) <= 10, "one in half a second, so at most ten until the deadline"


@pytest.mark.usefixtures("patient_pings")
def test_a_replica_that_got_the_request_just_before_the_deadline_stays_up(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    monkeypatch.setattr(HedgePolicy, "delay", lambda self, method: 0.8 * SHORT)
    with served_nodes([0], [0]) as nodes, group_of(*bases(nodes), shards=1, timeout=SHORT) as (group, table):
        for node in nodes:
            node.made[0].before = go_on.wait
        try:
            assert group.ask(lambda shard: shard.find("")) == {}
            assert failures(table) == {"timeout": 1}
            assert [state.is_up for state in table.states()].count(True) == 1
        finally:
            go_on.set()


def test_a_node_of_another_release_is_named_in_the_log_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("periplus.cluster.node_shards.__version__", "9.9")
    monkeypatch.setattr("periplus.cluster.nodes._PROBE_SECONDS", 0.01)
    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1) as (_, table):
        assert not table.rank_alike(GENERATION, "made")
        monkeypatch.setattr("periplus.cluster.node_shards.__version__", __version__)
        wait_until(lambda: table.rank_alike(GENERATION, "made"))
        assert not table.rank_alike(GENERATION, "other")
    assert caplog.text.count(f"runs Periplus 9.9, this broker runs {__version__}: results are not stored") == 1


def test_a_search_waits_for_a_slow_node_that_answers_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1) as (group, table):
        facts, nodes[0].made[0].before = nodes[0].shards.facts, go_on.wait

        def then_go_on(in_use: str = "") -> NodeFacts:
            threading.Timer(0.2, go_on.set).start()  # when the ping was answered
            return facts(in_use)

        monkeypatch.setattr(nodes[0].shards, "facts", then_go_on)
        assert group.ask(lambda shard: shard.find("")) == {0: None}
        assert failures(table) == {}


def test_a_machine_without_power_is_given_up_after_the_connect_timeout(unreachable: str) -> None:
    with closing(Transfers()) as transfers:
        transfers.start(Request(unreachable, None, timeout=LONG, connect_timeout=0.1))
        (ended,) = transfers.wait(LONG)
    assert (ended.status, "onnect" in ended.problem) == (0, True)
    assert ended.seconds < LONG / 2


def test_many_failures_of_one_outage_do_not_delay_the_next_probe() -> None:
    with ExitStack() as stack:
        (node,) = stack.enter_context(served_nodes([0]))
        with closing(Nodes([node.site.base])) as table:
            table.start()
            (replica,) = table.replicas(GENERATION, 0)
            for _ in range(8):
                table.failed(replica, "connection", "reset by peer", is_down=True)
            assert replica.pause < 1
            wait_until(lambda: table.states()[0].is_up)


def test_the_first_answer_of_two_replicas_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, first, recorded = threading.Event(), threading.Lock(), list[float]()
    monkeypatch.setattr(HedgePolicy, "record", lambda self, method, seconds: recorded.append(seconds))

    def first_waits() -> None:
        if first.acquire(blocking=False):
            go_on.wait()

    with served_nodes([0], [0]) as nodes, group_of(*bases(nodes), shards=1) as (group, table):
        for node in nodes:
            node.made[0].before = first_waits
        try:
            assert group.ask(lambda shard: shard.find("http://here.test/")) == {0: 0}
        finally:
            go_on.set()
        hedges = {key[1]: count for key, count in table.figures().items() if key[0] == "periplus_node_hedges_total"}
        assert list(hedges.values()) == [1]
        assert failures(table) == {}
    answered, cancelled = recorded
    assert cancelled >= 0.05 > 0 < answered, "the slow request counts with the time that it took at least"


def test_two_replicas_may_answer_in_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    both, wait = threading.Barrier(2), Transfers.wait

    def wait_for_two(self: Transfers, seconds: float) -> list[Transfer]:
        found = wait(self, seconds)
        while len(found) == 1 and found[0].request.body is not None:  # a request, no probe
            found += wait(self, LONG)
        return found

    with served_nodes([0], [0]) as nodes, group_of(*bases(nodes), shards=1) as (group, table):
        for node in nodes:
            node.made[0].before = both.wait
        monkeypatch.setattr(Transfers, "wait", wait_for_two)
        assert group.ask(lambda shard: shard.find("http://here.test/")) == {0: 0}
        assert failures(table) == {}


def test_a_request_is_not_hedged_when_the_budget_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HedgePolicy, "take", lambda self: False)
    go_on = threading.Event()
    with served_nodes([0], [0]) as nodes, group_of(*bases(nodes), shards=1) as (group, table):
        for node in nodes:
            node.made[0].before = go_on.wait
        threading.Timer(SHORT, go_on.set).start()
        assert group.ask(lambda shard: shard.find("http://here.test/")) == {0: 0}
        assert not any(key[0] == "periplus_node_hedges_total" for key in table.figures())


def test_a_node_without_the_generation_is_not_asked() -> None:
    with served_nodes([0]) as nodes, closing(Nodes(bases(nodes))) as table, closing(FanOut(table)) as fan_out:
        table.start()
        other = RemoteShards(fan_out, "bb" * 32, 1, LONG)
        assert other.ask(lambda shard: shard.find("")) == {}
        assert (table.available(GENERATION), table.available("bb" * 32)) == ({0}, set())
        assert nodes[0].made[0].asked == []


def test_a_broker_with_another_token_gets_nothing() -> None:
    with served_nodes([0], token="right") as nodes:
        with group_of(*bases(nodes), shards=1, token="wrong") as (group, table):
            assert group.ask(lambda shard: shard.find("")) == {}
            assert "401" in table.states()[0].problem
        with group_of(*bases(nodes), shards=1, token="right") as (group, _):
            assert group.ask(lambda shard: shard.find("")) == {0: None}


def test_an_error_of_a_shard_is_counted_and_the_shard_is_missing(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise DamagedFile("shard-1 is damaged", "zeros")

    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2) as (group, table):
        nodes[1].made[0].before = fail
        assert group.ask(lambda shard: shard.find("")) == {0: None}
        assert failures(table) == {"error": 1}
        assert table.states()[1].is_up, "other requests may go well"
    assert "shard-1 is damaged" in caplog.text


def test_an_unreadable_answer_counts_as_none(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("periplus.cluster.node_app.encode", lambda kind, value: encode(type(value), value))
    with served_nodes([0]) as nodes, group_of(*bases(nodes), shards=1) as (group, _):
        nodes[0].made[0].find = lambda url: "no number"  # type: ignore[method-assign, assignment, return-value]
        assert group.ask(lambda shard: shard.find("")) == {}
    assert "unreadable" in caplog.text


def test_many_threads_ask_at_once() -> None:
    with served_nodes([0], [1]) as nodes, group_of(*bases(nodes), shards=2) as (group, table):
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: group.ask(lambda shard: shard.frequencies(TERMS)), range(100)))
        assert found == [{0: [0, 0], 1: [1, 1]}] * 100
        assert failures(table) == {}


def wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_what_is_no_shard_node_is_named_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse("<!doctype html>\n<html>\n<p>Not found", 404)(scope, receive, send)

    with serving(page) as site, closing(Nodes([site.base])) as table:
        table.start()
        (state,) = table.states()
    assert state.problem == "it is not a shard node, or runs another release (status 404)"
    assert "\n" not in caplog.messages[0]


def test_the_log_names_nodes_without_the_generation_and_shards_that_no_node_can_search(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with served_nodes([0], [2]) as nodes, group_of(*bases(nodes), shards=3) as (_, table):
        table.use(GENERATION, 3, "made")
        assert "no node can search shard 1 of 3: results lack their pages" in caplog.text
        table.use("bb" * 32, 3, "made")
        wait_until(lambda: caplog.text.count("gets no requests: it serves another collection") == 2)
        assert "no node can search shard 0, 1, 2 of 3" in caplog.text
        table.use(GENERATION, 1, "made")
    assert caplog.messages[-1] == "every shard can be searched again"
