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

from fleet.crews import Crew, wait_until
from fleet.faults import Fault, complete, crash, kill, pause, restart
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
def crew(
    request: pytest.FixtureRequest, tmp_path: Path, own_postgres: PostgresServer, web: TestWeb, bucket: str
) -> Iterator[Crew]:
    url = own_postgres.url(own_postgres.create_database())
    delay, lease = getattr(request, "param", (DELAY, LEASE))
    settings = {
        "fleet__lease_seconds": lease,
        "fleet__storage": bucket,
        "fleet__upload_seconds": 5.0,
        "politeness__delay": delay,
        "fetch__timeout": 10.0,
    }
    with closing(Crew(tmp_path, url, web, **settings)) as crew:
        crew.seed("http://h0001.test/")
        crew.log_owners()
        yield crew


def wait_for_share(crew: Crew, part: float) -> None:
    wait_until(lambda: crew.counters()["fetched"] >= part * HOSTS * PAGES, timeout=600)


def has_more_than(crew: Crew, fetched: int) -> bool:
    return crew.counters()["fetched"] > fetched


def test_nothing_is_lost_when_nodes_database_and_store_fail_one_after_the_other(
    web: TestWeb, crew: Crew, own_postgres: PostgresServer, s3: S3Server, bucket: str
) -> None:
    crew.start(*NODES)
    for part, fault, name in ((0.05, kill, "c"), (0.2, pause, "b"), (0.35, restart, ""), (0.5, crash, "")):
        wait_for_share(crew, part)
        fault(crew, name, own_postgres)
    wait_for_share(crew, 0.6)
    with s3.answering(503):
        time.sleep(S3_OUTAGE)
    assert crew.wait(timeout=900) == dict.fromkeys(NODES, 0), [crew.log(name)[-2000:] for name in NODES]
    assert "has lost its lease" in crew.log("b"), "the node that stood still was refused"
    complete(web, crew, bucket, HOSTS * PAGES, losses=5)


@pytest.mark.parametrize("crew", [(SLOW, LEASE)], indirect=True, ids=["slow"])
@pytest.mark.parametrize("fault", [kill, pause, restart, crash])
def test_nothing_is_lost_when_it_happens_a_hundred_times(
    web: TestWeb, crew: Crew, own_postgres: PostgresServer, bucket: str, fault: Fault
) -> None:
    crew.start(*NODES)
    wait_for_share(crew, 0.01)
    happened = 0
    for name in islice(cycle(NODES), FAULTS):
        before = crew.counters()
        if not before["queued"]:
            break
        fault(crew, name, own_postgres)
        happened += 1
        wait_until(partial(has_more_than, crew, before["fetched"]), timeout=600)
    logger.warning("%s: %d times", fault.__name__, happened)
    assert crew.wait(timeout=1800) == dict.fromkeys(NODES, 0), [crew.log(name)[-2000:] for name in NODES]
    complete(web, crew, bucket, HOSTS * PAGES, losses=happened)
