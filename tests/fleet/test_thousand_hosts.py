"""Three nodes crawl a web of a thousand hosts while everything around them fails: R7 of the reliability tests."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import cycle, islice
from pathlib import Path

import pytest

from fleet.faults import Fault, complete, crash, kill, pause, restart, started_anew
from fleet.local_fleet import LocalFleet, wait_until
from postgres_server import PostgresServer
from s3_server import S3Server
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.long
logger = logging.getLogger(__name__)

HOSTS, PAGES = 1000, 15
NODES = ("a", "b", "c")
DELAY, LEASE = 0.5, 5.0  # seconds
SLOW = 40.0  # seconds between two requests to a host, so that the crawl goes on for a hundred faults
S3_OUTAGE = 60.0  # seconds
FAULTS = int(os.environ.get("FLEET_FAULTS", "100"))


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb(many_hosts(HOSTS, PAGES)) as web:
        yield web


@pytest.fixture
def fleet(
    request: pytest.FixtureRequest, tmp_path: Path, own_postgres: PostgresServer, web: TestWeb, bucket: str
) -> Iterator[LocalFleet]:
    url = own_postgres.url(own_postgres.create_database())
    delay, lease = getattr(request, "param", (DELAY, LEASE))
    settings = {
        "fleet__lease_seconds": lease,
        "fleet__storage": bucket,
        "fleet__upload_seconds": 5.0,
        "politeness__delay": delay,
        "fetch__timeout": 10.0,
    }
    with closing(LocalFleet(tmp_path, url, web, **settings)) as fleet:
        fleet.seed("http://h0001.test/")
        fleet.log_owners()
        yield fleet


def wait_for_share(fleet: LocalFleet, part: float) -> None:
    wait_until(lambda: fleet.counters()["fetched"] >= part * HOSTS * PAGES, timeout=600)


def has_more_than(fleet: LocalFleet, fetched: int) -> bool:
    return fleet.counters()["fetched"] > fetched


def test_nothing_is_lost_when_nodes_database_and_store_fail_one_after_the_other(
    web: TestWeb, fleet: LocalFleet, own_postgres: PostgresServer, s3: S3Server, bucket: str
) -> None:
    fleet.start(*NODES)
    for part, fault, name in ((0.05, kill, "c"), (0.2, pause, "b"), (0.35, restart, ""), (0.5, crash, "")):
        wait_for_share(fleet, part)
        fault(fleet, name, own_postgres)
    wait_for_share(fleet, 0.6)
    with s3.answering(503):
        time.sleep(S3_OUTAGE)
    assert fleet.wait(timeout=900) == dict.fromkeys(NODES, 0), [fleet.log(name)[-2000:] for name in NODES]
    assert started_anew(fleet, "b"), "the node that stood still was refused"
    assert "starts anew" in fleet.log("b")
    complete(web, fleet, bucket, HOSTS * PAGES, losses=5)


@pytest.mark.parametrize("fleet", [(SLOW, LEASE)], indirect=True, ids=["slow"])
@pytest.mark.parametrize("fault", [kill, pause, restart, crash])
def test_nothing_is_lost_when_it_happens_a_hundred_times(
    web: TestWeb, fleet: LocalFleet, own_postgres: PostgresServer, bucket: str, fault: Fault
) -> None:
    fleet.start(*NODES)
    wait_for_share(fleet, 0.01)
    happened = 0
    for name in islice(cycle(NODES), FAULTS):
        before = fleet.counters()
        if not before["queued"]:
            break
        fault(fleet, name, own_postgres)
        happened += 1
        wait_until(partial(has_more_than, fleet, before["fetched"]), timeout=600)
    logger.warning("%s: %d times", fault.__name__, happened)
    assert fleet.wait(timeout=1800) == dict.fromkeys(NODES, 0), [fleet.log(name)[-2000:] for name in NODES]
    complete(web, fleet, bucket, HOSTS * PAGES, losses=happened)
