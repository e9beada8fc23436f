"""Four shard nodes and a broker as processes: same results, killed and hanging nodes, replicas, a new index."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from cluster.divided import SHARDS, divided
from cluster.processes import Machines, Server, machines, wait_until
from crawl.crawling import typed
from periplus.search.reload import ReloadingEngine
from periplus.store.collection import Collection
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.generations import INDEX_KIND
from periplus.store.objects.open_store import open_store
from search.library import Doc, index, settings, shelve, urls
from web.serving import Site

pytestmark = pytest.mark.slow

PAGES = 80
TIMEOUT = 20.0  # seconds that a broker waits for a slow node: a busy machine is no reason for a partial answer
QUERIES = ["harbour", "rope ship", "tide -storm", "harbuor", "site:site3.test anchor"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Collection:
    return divided(tmp_path_factory.mktemp("processes"), PAGES)


@pytest.fixture(scope="module")
def running(collection: Collection) -> Iterator[Machines]:
    with machines(collection.home) as found:
        yield found


@pytest.fixture(scope="module")
def nodes(running: Machines) -> list[Server]:
    return running.nodes(*map(str, range(SHARDS)))


@pytest.fixture(scope="module")
def broker(running: Machines, nodes: list[Server]) -> Server:
    return running.broker(nodes, serve__cache_mb=0, serve__memory_cache_mb=0, serve__node_timeout=TIMEOUT)


def search(site: Site, query: str = "harbour") -> Any:
    return site.get("/api/search", q=query, size=100).json


def health(site: Site) -> Any:
    return site.get("/healthz").json


def is_complete(site: Site) -> bool:
    return search(site).get("partial") is False


def test_the_results_are_those_of_one_process(broker: Server, collection: Collection) -> None:
    with closing(ReloadingEngine(collection, settings(serve__cache_mb=0))) as single:
        for query in QUERIES:
            found, expected = search(broker.site, query), single.search(query, size=100)
            assert [hit["url"] for hit in found["results"]] == urls(expected)
            assert [hit["score"] for hit in found["results"]] == [hit.score for hit in expected.hits]
            assert (found["total"], found["corrected"]) == (expected.total, expected.corrected)
    assert health(broker.site)["status"] == "ok"


def test_every_page_of_the_site_works(broker: Server) -> None:
    url = search(broker.site)["results"][0]["url"]
    for path in ("/", "/about", "/search?q=harbour", "/search?q=rope&tab=images", "/search?q=rope&tab=news"):
        assert broker.site.get(path).status == 200, path
    for path in ("/cached", "/cached/raw", "/page", "/why"):
        assert broker.site.get(path, url=url, q="harbour").status == 200, path
    assert broker.site.get("/api/suggest", q="har").json["suggestions"]
    assert 'periplus_node_up{node="' in broker.site.get("/metrics").text


def test_a_node_that_is_killed_is_left_out_until_another_takes_its_place(
    running: Machines, nodes: list[Server], broker: Server
) -> None:
    whole = search(broker.site)
    nodes[1].send(signal.SIGKILL)
    started = time.monotonic()
    found = search(broker.site)
    assert time.monotonic() - started < TIMEOUT, "the first search does not wait for the dead node"
    assert (found["partial"], found["missing_shards"], found["total_is_exact"]) == (True, [1], False)
    assert 0 < found["total"] < whole["total"]
    page = broker.site.get("/search", q="harbour")
    assert "1 of 4 parts of the index did not answer" in page.text
    assert page.headers["cache-control"] == "private, no-store"
    assert (health(broker.site)["status"], health(broker.site)["nodes_down"]) == ("partial", 1)
    assert broker.site.get("/cached", url=whole["results"][0]["url"]).status in {200, 503}
    nodes[1] = running.serve("--shards", "1", "--port", str(nodes[1].site.port))
    wait_until(lambda: is_complete(broker.site))
    assert search(broker.site)["results"] == whole["results"]


def test_a_node_that_hangs_is_left_out_and_the_next_answers_do_not_wait(nodes: list[Server], broker: Server) -> None:
    wait_until(lambda: is_complete(broker.site))
    nodes[2].send(signal.SIGSTOP)
    try:
        started = time.monotonic()
        found = search(broker.site)
        assert time.monotonic() - started < TIMEOUT, "a ping has found out that the whole process hangs"
        assert found["missing_shards"] == [2]
        started = time.monotonic()
        for query in QUERIES * 4:
            assert search(broker.site, query)["missing_shards"] == [2]
        assert time.monotonic() - started < TIMEOUT, "20 answers that wait for a ping would take 40 s"
    finally:
        nodes[2].send(signal.SIGCONT)
    wait_until(lambda: is_complete(broker.site))


def test_a_replica_takes_over_without_a_partial_answer(running: Machines, nodes: list[Server]) -> None:
    replica = running.nodes("0-3")[0]
    second = running.broker([*nodes, replica], serve__cache_mb=0, serve__memory_cache_mb=0, serve__node_timeout=TIMEOUT)
    wait_until(lambda: health(second.site)["nodes_down"] == 0 and is_complete(second.site))
    nodes[3].send(signal.SIGKILL)
    try:
        for query in QUERIES:
            assert not search(second.site, query)["partial"]
        assert health(second.site)["status"] == "ok"
    finally:
        nodes[3] = running.serve("--shards", "3", "--port", str(nodes[3].site.port))
        nodes[3].site  # noqa: B018  # waits
        second.stop()
        replica.stop()


def test_a_new_index_is_served_without_a_failed_search(collection: Collection, broker: Server) -> None:
    wait_until(lambda: is_complete(broker.site))
    stop = Event()

    def searching(client: int) -> set[tuple[int, bool, int]]:
        seen = set()
        while not stop.is_set():
            answer = broker.site.get("/api/search", q="harbour", size=1 + client)
            seen.add((answer.status, answer.json.get("partial"), answer.json.get("total")))
        return seen

    before = search(broker.site)["total"]
    with ThreadPoolExecutor(2) as pool:
        clients = [pool.submit(searching, client) for client in range(2)]
        try:
            shelve(collection.home, [Doc("http://new.test/", "A new harbour", "harbour")])
            index(collection, shards=SHARDS)
            wait_until(lambda: search(broker.site)["total"] == before + 1)
        finally:
            stop.set()
        seen = set().union(*(client.result() for client in clients))
    assert seen <= {(200, False, before), (200, False, before + 1)}
    assert health(broker.site)["generation"] == 2


def test_nodes_with_a_token_bring_only_their_shards_from_the_object_store(
    running: Machines, collection: Collection, tmp_path: Path
) -> None:
    (tmp_path / "store").mkdir()
    store = f"file://{tmp_path / 'store'}"
    live = max(collection.index.glob("gen-*"))
    PublishedGenerations(open_store(store), "index", INDEX_KIND).publish(live, None, 1)
    options = ("--storage", store, "--port", "0")
    some = [
        running.serve("--shards", shards, *options, home=tmp_path / shards, serve__node_token="secret")
        for shards in ("0-1", "2,3")
    ]
    site = running.broker(some, "--storage", store, home=tmp_path / "broker", serve__node_token="secret").site
    expected = {path.name for path in live.glob("shard-*")}
    for name, wanted in (("0-1", {"shard-0", "shard-1"}), ("2,3", {"shard-2", "shard-3"})):
        assert {path.name for path in (tmp_path / name / "index" / live.name).glob("shard-*")} == wanted
        assert wanted < expected
    assert not list((tmp_path / "broker" / "index" / live.name).glob("shard-*"))
    wait_until(lambda: is_complete(site))


def test_a_node_that_other_machines_reach_needs_a_token(collection: Collection) -> None:
    ending = typed("serve", "--home", collection.home, "--shards", "0", "--host", "0.0.0.0", "--port", "0")
    assert (ending.code, ending.out) == (2, "")
    assert "needs a token" in ending.err


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("--shards", "0-4"), "there is no shard 4"),
        (("--shards", "x"), "not a list of shard numbers"),
        (("--shards", ""), "not a list of shard numbers"),
        (("--nodes", ""), "--nodes has no URL"),
        (("--nodes", "http://"), "'http://' is not the URL of a node"),
        (("--nodes", "ftp://a"), "not the URL of a node"),
        (("--shards", "0", "--nodes", "http://127.0.0.1:1"), "cannot be combined"),
    ],
)
def test_a_mistake_in_an_option_is_one_line(collection: Collection, options: tuple[str, ...], problem: str) -> None:
    ending = typed("serve", "--home", collection.home, "--port", "0", *options)
    assert (ending.code, ending.err.count("\n")) == (2, 1), ending.err
    assert problem in ending.err
