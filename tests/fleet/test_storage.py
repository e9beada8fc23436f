"""Three nodes with an object store: it fails and comes back, and a node is lost with its disk; no page is."""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fleet.local_fleet import LocalFleet, impolite, wait_until
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import bring_segments
from periplus.store.objects.open_store import open_store
from s3_server import S3Server
from testweb import TestWeb, many_hosts

pytestmark = pytest.mark.slow

HOSTS, PAGES = 40, 10
NODES = ("a", "b", "c")
GRACE = 5.0  # seconds
OUTAGE = 8.0  # seconds


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb(many_hosts(HOSTS, PAGES)) as web:
        yield web


@pytest.fixture
def fleet(tmp_path: Path, postgres: str, web: TestWeb, bucket: str) -> Iterator[LocalFleet]:
    settings = {"fleet__storage": bucket, "fleet__upload_seconds": 1.0, "fleet__grace_seconds": GRACE}
    settings["store__segment_seconds"] = 60.0  # long, as usual
    with closing(LocalFleet(tmp_path, postgres, web, **settings)) as fleet:
        fleet.seed("http://h0001.test/")
        yield fleet


def everything_is_stored(fleet: LocalFleet, bucket: str, pages: int = HOSTS * PAGES) -> None:
    """Every page has its archive record in the object store, and is in a segment that any node can read."""
    assert fleet.counters()["fetched"] == pages
    assert fleet.counters()["queued"] == 0
    stored = (
        "SELECT count(DISTINCT url) FROM fetches JOIN archives USING (archive_id) WHERE stored AND verdict = 'fetched'"
    )
    assert fleet.rows(stored) == [(pages,)]
    elsewhere = Collection(fleet.folder / "elsewhere", fleet.url, bucket)
    elsewhere.segments.mkdir(parents=True)
    with closing(open_catalog(elsewhere)) as catalog:
        segments = catalog.segments("pages")
        bring_segments(elsewhere, segments)
        names = {f"archive/{file.name}" for file in catalog.archives()}
    assert sum(segment.rows for segment in segments) == pages
    assert names <= {facts.name for facts in open_store(bucket).list("archive")}


def test_a_store_that_fails_for_some_time_delays_uploads_and_nothing_else(
    web: TestWeb, fleet: LocalFleet, s3: S3Server, bucket: str
) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS)
    with s3.answering(503):
        before = fleet.counters()["fetched"]
        time.sleep(OUTAGE)
        assert fleet.counters()["fetched"] > before or before == HOSTS * PAGES, "the crawl goes on"
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    everything_is_stored(fleet, bucket)
    assert impolite(web) == []


def test_pages_of_a_node_that_is_lost_with_its_disk_are_fetched_again(
    fleet: LocalFleet, s3: S3Server, bucket: str
) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > 0)
    only_on_a = (
        "SELECT 1 FROM fetches JOIN archives USING (archive_id) JOIN fleet_workers ON archives.worker = worker_id"
        " WHERE node = 'a' AND NOT stored"
    )
    with s3.answering(503):
        wait_until(lambda: bool(fleet.rows(only_on_a)))
        fleet.signal("a", signal.SIGKILL)
        fleet.nodes["a"].wait()
        shutil.rmtree(fleet.folder / "a")
    assert fleet.rows(only_on_a), "the node had pages that were not uploaded"
    assert fleet.wait("b", "c") == {"b": 0, "c": 0}, [fleet.log(name) for name in ("b", "c")]
    everything_is_stored(fleet, bucket)


def test_uploaded_pages_of_a_node_that_is_lost_with_its_disk_reach_a_segment(fleet: LocalFleet, bucket: str) -> None:
    fleet.start(*NODES)
    of_a = (
        " FROM fetches JOIN archives USING (archive_id) JOIN fleet_workers ON archives.worker = worker_id"
        " WHERE node = 'a' AND stored AND verdict = 'fetched'"
    )
    wait_until(lambda: bool(fleet.rows(f"SELECT 1 {of_a} AND sealed = 0")))
    fleet.signal("a", signal.SIGKILL)
    fleet.nodes["a"].wait()
    shutil.rmtree(fleet.folder / "a")
    uploaded = fleet.rows(f"SELECT url, at {of_a} AND sealed = 0")
    assert uploaded, "the node had uploaded pages, and no segment"
    assert fleet.wait("b", "c") == {"b": 0, "c": 0}, [fleet.log(name) for name in ("b", "c")]
    everything_is_stored(fleet, bucket)
    assert set(uploaded) <= set(fleet.rows(f"SELECT url, at {of_a}")), "none of them was fetched again"


def test_a_node_that_ends_while_the_object_store_fails_leaves_its_hosts_to_the_others_at_once(
    fleet: LocalFleet, s3: S3Server, bucket: str
) -> None:
    fleet.start(*NODES)
    wait_until(lambda: fleet.counters()["fetched"] > HOSTS)
    with s3.answering(503):
        fleet.nodes["a"].terminate()
        shares = "SELECT 1 FROM shares JOIN fleet_workers ON owner = worker_id WHERE node = 'a'"
        wait_until(lambda: not fleet.rows(shares))
        assert fleet.nodes["a"].poll() is None, "it still has files to upload"
    assert fleet.wait() == dict.fromkeys(NODES, 0), [fleet.log(name) for name in NODES]
    everything_is_stored(fleet, bucket)
    assert fleet.rows("SELECT name FROM nodes") == []


def test_a_node_that_comes_back_with_fewer_workers_uploads_the_files_of_all(
    fleet: LocalFleet, s3: S3Server, bucket: str, web: TestWeb
) -> None:
    unstored = "SELECT count(DISTINCT worker) FROM archives WHERE NOT stored"
    with s3.answering(503):
        fleet.start("a", workers=3)
        wait_until(lambda: fleet.rows(unstored) == [(3,)])
        fleet.signal("a", signal.SIGKILL)
        fleet.nodes["a"].communicate()
    acknowledged = fleet.fetched()
    assert acknowledged
    fleet.start("a", workers=1)
    assert fleet.wait("a") == {"a": 0}, fleet.log("a")
    everything_is_stored(fleet, bucket)
    assert fleet.rows("SELECT count(*) FROM archives WHERE NOT stored") == [(0,)]
    again = {url for url, requests in web.log.fetched().items() if requests > 1}
    assert not acknowledged & again
    assert not list((fleet.folder / "a" / "archive").glob("*.warc.gz"))
    assert not (fleet.folder / "a" / "kept").exists()


def test_a_node_without_its_bucket_owns_nothing(fleet: LocalFleet) -> None:
    fleet.start("a", options=["--storage", "s3://nowhere"])
    assert fleet.wait("a") == {"a": 1}
    assert "s3://nowhere cannot be used: the bucket does not exist" in fleet.log("a")
    assert fleet.rows("SELECT count(*) FROM nodes") == [(0,)]
    assert fleet.rows("SELECT count(*) FROM leases") == [(0,)]
