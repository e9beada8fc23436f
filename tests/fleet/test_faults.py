"""Three nodes crawl 150 hosts while a node, the database and the object store fail: the short version of R7."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fleet.faults import complete, kill, pause, restart, started_anew
from fleet.local_fleet import LocalFleet, wait_until
from postgres_server import PostgresServer
from s3_server import S3Server
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.slow

HOSTS, PAGES = 150, 6
NODES = ("a", "b", "c")
S3_OUTAGE = 3.0  # seconds


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb(many_hosts(HOSTS, PAGES)) as web:
        yield web


@pytest.fixture
def fleet(tmp_path: Path, own_postgres: PostgresServer, web: TestWeb, bucket: str) -> Iterator[LocalFleet]:
    url = own_postgres.url(own_postgres.create_database())
    settings = {
        "fleet__lease_seconds": 2.0,
        "fleet__storage": bucket,
        "fleet__upload_seconds": 1.0,
        "politeness__delay": 1.0,
    }
    with closing(LocalFleet(tmp_path, url, web, **settings)) as fleet:
        fleet.seed("http://h0001.test/")
        fleet.log_owners()
        yield fleet


def test_nothing_is_lost_and_every_host_has_one_owner_when_everything_fails_once(
    web: TestWeb, fleet: LocalFleet, own_postgres: PostgresServer, s3: S3Server, bucket: str
) -> None:
    fleet.start(*NODES)
    for part, fault, name in ((0.03, kill, "c"), (0.1, pause, "b"), (0.3, restart, "")):
        wait_until(lambda part=part: fleet.counters()["fetched"] >= part * HOSTS * PAGES)  # type: ignore[misc]
        fault(fleet, name, own_postgres)
    assert fleet.counters()["queued"], "everything has failed before the crawl has ended"
    with s3.answering(503):
        time.sleep(S3_OUTAGE)
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name)[-2000:] for name in NODES]
    assert started_anew(fleet, "b"), "the node that stood still was refused"
    assert "starts anew" in fleet.log("b")
    complete(web, fleet, bucket, HOSTS * PAGES, losses=3)
