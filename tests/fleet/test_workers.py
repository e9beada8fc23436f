"""Three nodes crawl one web: one owner per host and nothing lost, whatever is killed, stopped or restarted."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from crawl.crawling import periplus
from fleet.faults import started_anew
from fleet.local_fleet import DELAY, LEASE, LocalFleet, fetched_twice, impolite, wait_until
from periplus.control.orders import drain
from periplus.store.collection import Collection
from periplus.store.shares import SHARES
from postgres_server import PostgresServer
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.slow

HOSTS, PAGES = 60, 10
SEED = "http://h0001.test/"
NODES = ("a", "b", "c")


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb(many_hosts(HOSTS, PAGES)) as web:
        yield web


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: PostgresServer, web: TestWeb) -> Iterator[LocalFleet]:
    url = own_postgres.url(own_postgres.create_database())
    with closing(LocalFleet(tmp_path, url, web)) as fleet:
        fleet.seed(SEED)
        yield fleet


def all_pages(web: TestWeb, fleet: LocalFleet) -> None:
    """Every page is acknowledged once, and every host was asked politely."""
    assert fleet.counters()["fetched"] == HOSTS * PAGES
    assert fleet.counters()["queued"] == 0
    assert fleet.rows("SELECT count(*) FROM inbox") == [(0,)]
    assert impolite(web) == []


def test_three_nodes_crawl_every_page_once(web: TestWeb, fleet: LocalFleet) -> None:
    fleet.start(*NODES)
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    all_pages(web, fleet)
    assert not fetched_twice(web)
    by_worker = fleet.rows("SELECT worker, count(*) FROM fetches JOIN archives USING (archive_id) GROUP BY worker")
    assert {worker for worker, _ in by_worker} == {1000, 1001, 1002}, "every node has fetched"
    assert fleet.rows("SELECT count(*) FROM shares WHERE owner IS NOT NULL") == [(0,)], "all have left"


def test_hosts_of_a_killed_node_go_to_the_others(web: TestWeb, fleet: LocalFleet) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS * PAGES // 5)
    acknowledged = fleet.fetched()
    fleet.signal("b", signal.SIGKILL)
    assert fleet.wait("a", "c") == {"a": 0, "c": 0}, [fleet.log(name) for name in NODES]
    all_pages(web, fleet)
    assert not acknowledged & set(fetched_twice(web)), "only what was not acknowledged is fetched again"


def test_a_node_that_is_stopped_for_longer_than_its_lease_sends_nothing_of_before(
    web: TestWeb, fleet: LocalFleet
) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS * PAGES // 5)
    fleet.signal("b", signal.SIGSTOP)
    owners = "SELECT count(*) FROM shares JOIN fleet_workers ON owner = worker_id WHERE node = 'b'"
    wait_until(lambda: fleet.rows(owners) == [(0,)])
    time.sleep(DELAY)
    fleet.signal("b", signal.SIGCONT)
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    all_pages(web, fleet)
    assert started_anew(fleet, "b")


def test_a_restart_of_the_database_costs_nothing(web: TestWeb, fleet: LocalFleet, own_postgres: PostgresServer) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS * PAGES // 5)
    own_postgres.stop(signal.SIGINT)
    time.sleep(LEASE / 3)
    own_postgres.start()
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    all_pages(web, fleet)


def test_a_second_folder_with_the_name_of_a_live_node_is_refused(
    web: TestWeb, fleet: LocalFleet, tmp_path: Path
) -> None:
    fleet.start("a", until_done=False)
    wait_until(lambda: fleet.rows("SELECT count(*) FROM leases WHERE is_live = 1") == [(1,)])
    other = LocalFleet(tmp_path / "elsewhere", fleet.url, web)
    (tmp_path / "elsewhere").mkdir()
    with closing(other):
        other.start("a")
        assert other.wait() == {"a": 2}
        assert "the fleet has a node a already" in other.log("a")
        assert "fleet.node" in other.log("a")


def test_nodes_go_on_after_the_database_was_away_for_longer_than_a_lease(
    web: TestWeb, fleet: LocalFleet, own_postgres: PostgresServer
) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS * PAGES // 5)
    own_postgres.stop(signal.SIGQUIT)
    time.sleep(LEASE + 1)
    asked = len(web.log.entries())
    time.sleep(LEASE / 2)
    assert len(web.log.entries()) == asked, "no worker sends anything without a lease"
    own_postgres.start()
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    all_pages(web, fleet)


def test_a_node_that_is_drained_leaves_its_hosts_to_the_others(web: TestWeb, fleet: LocalFleet) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS * PAGES // 5)
    fleet.nodes["b"].terminate()
    assert fleet.wait("b") == {"b": 0}
    live = "SELECT count(*) FROM leases JOIN fleet_workers USING (worker_id) WHERE node = 'b' AND is_live = 1"
    assert fleet.rows(live) == [(0,)]
    fleet.start("d")
    assert fleet.wait("a", "c", "d") == {"a": 0, "c": 0, "d": 0}, [fleet.log(name) for name in NODES]
    all_pages(web, fleet)
    assert not fetched_twice(web), "everything was acknowledged"


def test_a_node_that_joins_gets_a_part_of_the_shares_and_one_node_can_be_told_to_end(
    web: TestWeb, fleet: LocalFleet
) -> None:
    fleet.start("a", until_done=False)
    wait_until(lambda: fleet.counters()["fetched"] > PAGES)
    fleet.start("b", workers=2, until_done=False)
    part = "SELECT count(*) FROM shares JOIN fleet_workers ON owner = worker_id WHERE node = 'b'"
    wait_until(lambda: int(fleet.rows(part)[0][0]) > SHARES / 3)
    wait_until(lambda: fleet.counters()["fetched"] == HOSTS * PAGES)
    drain(Collection(fleet.folder / "a", fleet.url), node="a")
    assert fleet.wait("a", timeout=30) == {"a": 0}
    wait_until(lambda: fleet.rows(part) == [(SHARES,)])
    assert fleet.nodes["b"].poll() is None, "only one node was told to"
    assert impolite(web) == []
    assert not fetched_twice(web)


def test_all_nodes_together_stop_when_the_collection_has_the_wanted_number_of_pages(
    web: TestWeb, fleet: LocalFleet
) -> None:
    fleet.start(*NODES, until_done=False, options=("--until-pages", "200"))
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    assert fleet.counters()["fetched"] == 200
    assert fleet.rows("SELECT DISTINCT claimed FROM leases") == [(0,)]
    assert not fetched_twice(web)


def test_pages_that_a_killed_node_had_claimed_go_to_the_others(web: TestWeb, fleet: LocalFleet) -> None:
    fleet.start(*NODES, until_done=False, options=("--until-pages", "300"))
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS)
    fleet.signal("b", signal.SIGKILL)
    assert fleet.wait("a", "c") == {"a": 0, "c": 0}, [fleet.log(name) for name in NODES]
    assert fleet.counters()["fetched"] == 300
    assert impolite(web) == []


def test_a_budget_of_pages_is_that_of_one_node_and_kept_exactly(fleet: LocalFleet, tmp_path: Path) -> None:
    fleet.start("a", until_done=False)
    wait_until(lambda: fleet.counters()["fetched"] > 0)
    fleet.nodes["a"].terminate()
    assert fleet.wait("a") == {"a": 0}
    options = ("--pages", "33", "--workers", "2", "--home", tmp_path / "b", "--json")
    done = periplus("crawl", SEED, *options, env=fleet.environment("b"))
    assert done.code == 0, done.err
    assert json.loads(done.out)["fetched"] == 33
