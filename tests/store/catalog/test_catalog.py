"""Commits are atomic and durable, whatever happens in between."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.errors import CollectionLocked, DiskFull
from periplus.model import ArchivePosition, Decision, HostPolicy, QueuedUrl, Reason, RobotsFile, UrlState, Verdict
from periplus.store.catalog.batch import ArchiveFile, Batch, Refusal, Settled, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.manifest import SealedSegment
from store.records import (
    AT,
    WRITTEN,
    a_fetch,
    batch_of,
    done,
    error_line,
    failed,
    queued,
    refused,
    retried,
)
from store.small_disk import fill, small_disk, under_limit

SETTLING: dict[UrlState, Callable[[QueuedUrl], Settled]] = {
    UrlState.DONE: done,
    UrlState.REFUSED: refused,
    UrlState.FAILED: failed,
    UrlState.QUEUED: lambda item: retried(item, due=9.0),
}


def opened(path: Path) -> closing[Catalog]:
    return closing(Catalog(SqliteDatabase(path, create=True)))


@pytest.fixture
def catalog(any_collection: Collection) -> Iterator[Catalog]:
    with closing(open_catalog(any_collection, create=True)) as found:
        yield found


def commit(catalog: Catalog, batch: Batch, written: Written = WRITTEN) -> int:
    return catalog.commit(batch, written, 1, {})


# --- the acknowledgement ---


def test_a_commit_stores_the_acknowledged_size_of_the_archive(catalog: Catalog) -> None:
    first = commit(catalog, Batch(), Written(0, "w00-000001.warc.gz", 100))
    assert commit(catalog, Batch(), Written(0, "w00-000001.warc.gz", 250)) == first
    second = commit(catalog, Batch(), Written(0, "w00-000002.warc.gz", 70))
    other = commit(catalog, Batch(), Written(1, "w01-000001.warc.gz", 30))
    expected = [
        ArchiveFile(first, "w00-000001.warc.gz", 250, 0),
        ArchiveFile(second, "w00-000002.warc.gz", 70, 0),
    ]
    assert catalog.archives(0) == expected
    assert catalog.archives() == [*expected, ArchiveFile(other, "w01-000001.warc.gz", 30, 0)]


def test_an_attempt_is_kept_with_the_place_of_its_bytes(catalog: Catalog) -> None:
    item = queued("https://example.org/a")
    where = ArchivePosition(WRITTEN.name, 300, 50)
    again = Settled(item, UrlState.QUEUED, Decision(Verdict.DELAYED, Reason.RETRY, "timeout"))
    missed = a_fetch(item.url, decision=again.decision, status=0)
    fetched = a_fetch(item.url, position=where)
    settled = [again._replace(fetch=missed), done(item)._replace(fetch=fetched)]
    archive_id = commit(catalog, Batch(admitted=[item], settled=settled))
    assert catalog.fetches_of(item.url) == [missed, fetched]
    assert catalog.fetches_of("https://example.org/b") == []
    assert list(catalog.fetches_in(archive_id)) == [fetched]
    assert list(catalog.fetches_in(archive_id, 300)) == [fetched]
    assert list(catalog.fetches_in(archive_id, 301)) == []


def test_an_archive_lists_its_fetches_in_the_order_of_their_bytes(catalog: Catalog) -> None:
    offsets = [700, 100, 400]
    fetches = [a_fetch(f"https://example.org/{n}", position=ArchivePosition(WRITTEN.name, n, 9)) for n in offsets]
    items = [queued(fetch.url) for fetch in fetches]
    settled = [done(item)._replace(fetch=fetch) for item, fetch in zip(items, fetches, strict=True)]
    archive_id = commit(catalog, Batch(admitted=items, settled=settled))
    found = [fetch.position.offset for fetch in catalog.fetches_in(archive_id) if fetch.position]
    assert found == sorted(offsets)


def test_every_redirect_is_listed_and_nothing_else(catalog: Catalog) -> None:
    old, plain = queued("https://example.org/old"), queued("https://example.org/plain")
    targets = [("https://example.org/a", 1.0), ("https://example.org/b", 2.0)]
    moves = [a_fetch(old.url, status=301)._replace(redirect_to=target, at=at) for target, at in targets]
    commit(catalog, Batch(admitted=[old, plain], settled=[done(plain), *(done(old)._replace(fetch=f) for f in moves)]))
    assert list(catalog.redirects()) == [(old.url, target, at) for target, at in targets]


def test_the_state_of_a_url_can_be_looked_up(catalog: Catalog) -> None:
    item = queued("https://example.org/a", 3.0, via="https://example.org/")
    before = time.time()
    commit(catalog, batch_of(item))
    row = catalog.url(item.url)
    assert row is not None
    assert {key: row[key] for key in ("state", "reason", "depth", "via", "attempts", "admitted")} == {
        "state": UrlState.QUEUED,
        "reason": "link",
        "depth": 3,
        "via": "https://example.org/",
        "attempts": 0,
        "admitted": "link",
    }
    assert before <= row["first_seen"] <= time.time()
    commit(catalog, Batch(settled=[refused(item, Reason.ROBOTS)]))
    row = catalog.url(item.url)
    assert row is not None
    assert (row["state"], row["reason"], row["detail"]) == (UrlState.REFUSED, "robots", "a rule")
    assert catalog.url("https://example.org/b") is None


class BrokenOff(list[RobotsFile]):
    """Records that cannot be read."""

    def __iter__(self) -> Iterator[RobotsFile]:
        raise KeyError("the batch is broken")


def test_a_batch_that_fails_in_the_middle_leaves_nothing_of_it(catalog: Catalog) -> None:
    old, new = queued("https://example.org/old"), queued("https://new.example.net/new")
    commit(catalog, batch_of(old))
    before = (catalog.counters(), catalog.waiting_hosts(), catalog.archives())
    batch = Batch(
        settled=[done(old)],
        admitted=[new],
        seeds=["https://new.example.net/"],
        policies={"third.example": HostPolicy("third.example", 2.0, "why", 3.0)},
        robots=BrokenOff(),
    )
    batch.refused["fourth.example", Reason.ROBOTS] += 1
    with pytest.raises(KeyError):
        commit(catalog, batch, Written(0, "w00-000002.warc.gz", 999))
    assert (catalog.counters(), catalog.waiting_hosts(), catalog.archives()) == before
    assert catalog.recount() == catalog.counters()
    assert catalog.queue_of("example.org", 9, AT) == [old]
    assert catalog.url(new.url) is None
    assert catalog.policy("third.example") is catalog.policy("new.example.net") is None
    assert (catalog.seeds(), catalog.refusals(), catalog.fetches_of(old.url)) == ([], {}, [])

    # Host numbers given in the failed batch must not be remembered: the same host comes again.
    commit(catalog, batch_of(queued("https://another.example/")))
    batch.robots = []
    commit(catalog, batch)
    assert catalog.queue_of("new.example.net", 9, AT) == [new]
    assert catalog.policy("third.example") == HostPolicy("third.example", 2.0, "why", 3.0)
    assert {policy.host for policy in catalog.waiting_hosts()} == {"another.example", "new.example.net"}
    assert catalog.recount() == catalog.counters()


def many_hosts(number: int) -> Batch:
    return batch_of(*(queued(f"https://host{n}.example.org/{'x' * 200}") for n in range(number)))


def test_a_full_disk_loses_nothing_and_the_same_batch_works_when_there_is_room(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", "2m") as disk,
        closing(Catalog(SqliteDatabase(disk / "crawl.db", create=True))) as catalog,
    ):
        commit(catalog, batch_of(queued("https://example.org/")))
        ballast = fill(disk, leave=16_384)
        line = error_line(DiskFull, lambda: commit(catalog, many_hosts(2000)), exit_code=3)
        assert line.startswith(f"no space left to write {disk / 'crawl.db'}: database or disk is full. Acknowl")
        assert catalog.counters() == catalog.recount()
        assert catalog.counters()["known"] == 1
        ballast.unlink()
        commit(catalog, many_hosts(400))
        assert len(catalog.waiting_hosts()) == catalog.counters()["queued"] == 401


def test_a_limit_on_file_sizes_is_reported_like_a_full_disk(tmp_path: Path) -> None:
    code = """
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.catalog.batch import Batch, Written
catalog = Catalog(SqliteDatabase(home / "crawl.db", create=True))
limited()
catalog.commit(Batch(seeds=[f"https://example.org/{n}" for n in range(9000)]), Written(0, "x", 1), 1, {})
"""
    kind, exit_code, line = under_limit(tmp_path, 100_000, code)
    assert (kind, exit_code) == ("DiskFull", "3")
    assert f"no space left to write {tmp_path / 'crawl.db'}" in line
    with closing(Catalog(SqliteDatabase(tmp_path / "crawl.db"))) as catalog:
        assert (catalog.seeds(), catalog.check()) == ([], [])


COMMITS_FOREVER = """
import sys
from itertools import count
from pathlib import Path
from periplus.model import QueuedUrl, Reason
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import Collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.catalog.batch import Batch, Written
catalog = Catalog(SqliteDatabase(Path(sys.argv[1]), create=True))
for number in count(catalog.counters()["known"] // 20):
    urls = [f"https://host{number % 7}.example.org/{number}/{n}" for n in range(20)]
    items = [QueuedUrl(url, url.split("/")[2], 0, 0.0, Reason.LINK) for url in urls]
    catalog.commit(Batch(admitted=items, seeds=urls[:1]), Written(0, "x", number + 1), 1, {})
    print(number + 1, flush=True)
"""


@pytest.mark.slow
def test_a_killed_commit_leaves_the_old_state_or_the_new_one(tmp_path: Path) -> None:
    path, rng, acknowledged = tmp_path / "crawl.db", random.Random(7), 0
    for _ in range(4):
        command = [sys.executable, "-c", COMMITS_FOREVER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            assert child.stdout is not None
            lines = [child.stdout.readline() for _ in range(rng.randrange(1, 30))]
            time.sleep(rng.random() * 0.01)
            child.kill()
            lines += child.stdout.readlines()
        acknowledged = int(lines[-1])
        with closing(Catalog(SqliteDatabase(path))) as catalog:
            assert catalog.check() == []
            counters = catalog.counters()
            assert counters == catalog.recount()
            commits = counters["known"] // 20
            assert commits in (acknowledged, acknowledged + 1)
            assert counters["known"] == len(set(catalog.known_urls())) == 20 * commits
            assert len(catalog.seeds()) == commits
            assert [file.committed for file in catalog.archives(0)] == [commits]
    assert acknowledged >= 4


# --- counters ---


BATCHES = st.lists(
    st.lists(st.tuples(st.integers(0, 30), st.sampled_from(UrlState)), max_size=12).map(dict), min_size=1, max_size=5
)


@given(BATCHES)
@settings(max_examples=25)
def test_the_running_figures_equal_a_recount(batches: list[dict[int, UrlState]]) -> None:
    states: dict[str, UrlState] = {}
    fetched = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Catalog(SqliteDatabase(Path(folder) / "crawl.db", create=True))) as catalog,
    ):
        for changes in batches:
            batch = Batch()
            for number, state in changes.items():
                item = queued(f"https://host{number % 3}.example.org/{number}")
                if states.setdefault(item.url, UrlState.QUEUED) is not UrlState.QUEUED:
                    batch.admitted.append(item)  # known already: nothing may change
                    continue
                batch.admitted.append(item)
                batch.settled.append(SETTLING[state](item))
                states[item.url] = state
                fetched += state is UrlState.DONE
            commit(catalog, batch)
            again = [url for url, state in states.items() if state in (UrlState.FAILED, UrlState.REFUSED)][:2]
            catalog.requeue([*again, "https://never.met/"])
            states.update(dict.fromkeys(again, UrlState.QUEUED))
            found = list(states.values())
            assert (
                catalog.counters()
                == catalog.recount()
                == {
                    "known": len(found),
                    "queued": found.count(UrlState.QUEUED),
                    "done": found.count(UrlState.DONE),
                    "refused": found.count(UrlState.REFUSED),
                    "failed": found.count(UrlState.FAILED),
                    "fetched": fetched,
                    "bytes": 8 * fetched,
                }
            )


def test_only_pages_that_were_kept_count_as_fetched(catalog: Catalog) -> None:
    items = [queued(f"https://example.org/{n}") for n in range(3)]
    settled = [done(items[0], size=100), failed(items[1]), retried(items[2], due=5.0)]
    commit(catalog, Batch(admitted=items, settled=settled))
    counters = catalog.counters()
    assert (counters["fetched"], counters["bytes"]) == (1, 100)


# --- refusals ---


def test_refused_links_are_counted_and_a_hundred_are_stored(catalog: Catalog) -> None:
    decision = Decision(Verdict.REFUSED, Reason.SCOPE_HOST, "not the host of a seed")
    for start in (0, 80, 160):
        batch = Batch()
        for number in range(start, start + 80):
            batch.samples.append(
                Refusal("far.example", f"https://far.example/{number}", decision, "https://a.example/")
            )
            batch.refused["far.example", Reason.SCOPE_HOST] += 1
        batch.refused["near.example", Reason.ROBOTS] += 1
        commit(catalog, batch)
    assert catalog.refusals() == {"scope_host": 240, "robots": 3}
    kept = [number for number in range(240) if catalog.refusal_of("far.example", f"https://far.example/{number}")]
    assert kept == list(range(100))
    expected = ("scope_host", "not the host of a seed", "https://a.example/")
    assert catalog.refusal_of("far.example", "https://far.example/7") == expected


def test_the_cap_on_samples_is_per_host_and_rule(catalog: Catalog) -> None:
    batch = Batch()
    for number in range(150):
        for reason in (Reason.SCOPE_PATH, Reason.EXTENSION):
            for host in ("a.example", "b.example"):
                decision = Decision(Verdict.REFUSED, reason)
                batch.samples.append(Refusal(host, f"https://{host}/{reason}/{number}", decision, "via"))
    commit(catalog, batch)
    for host in ("a.example", "b.example"):
        for reason in (Reason.SCOPE_PATH, Reason.EXTENSION):
            assert catalog.refusal_of(host, f"https://{host}/{reason}/99") is not None
            assert catalog.refusal_of(host, f"https://{host}/{reason}/100") is None


def test_a_link_refused_twice_is_kept_once(catalog: Catalog) -> None:
    first = Refusal("a.example", "https://a.example/", Decision(Verdict.REFUSED, Reason.ROBOTS, "first"), "via 1")
    second = first._replace(decision=Decision(Verdict.REFUSED, Reason.ROBOTS, "second"), via="via 2")
    commit(catalog, Batch(samples=[first, second]))
    assert catalog.refusal_of("a.example", "https://a.example/") == ("robots", "first", "via 1")


# --- segments and runs ---


def test_the_manifest_lists_what_was_sealed_and_how_far_it_reaches(catalog: Catalog) -> None:
    archive_id = commit(catalog, Batch())
    assert (catalog.segments(), catalog.last_segment(0)) == ([], 0)
    first = [SealedSegment(f"{kind}-w00-000001.parquet", kind, 5, 500, b"\1" * 32) for kind in ("pages", "links")]
    second = [SealedSegment(f"{kind}-w00-000002.parquet", kind, 6, 600, b"\2" * 32) for kind in ("pages", "links")]
    catalog.seal(0, 1, first, {archive_id: 1000})
    catalog.seal(0, 2, second, {archive_id: 4000})
    catalog.seal(1, 7, [], {})
    assert catalog.segments() == [*first, *second]
    assert catalog.segments("links") == [first[1], second[1]]
    assert (catalog.last_segment(0), catalog.last_segment(1)) == (2, 0)
    assert catalog.archives(0) == [ArchiveFile(archive_id, WRITTEN.name, WRITTEN.size, 4000)]


def sealed_segments(catalog: Catalog, *names: str) -> list[SealedSegment]:
    segments = [SealedSegment(name, "pages", 1, 1, b"digest") for name in names]
    catalog.seal(0, 1, segments, {})
    return segments


@pytest.mark.parametrize("names", [["lost", "b"], ["a", "lost"], ["a", "b", "lost"]])
def test_segments_that_another_process_has_replaced_are_not_merged(catalog: Catalog, names: list[str]) -> None:
    before, merged = sealed_segments(catalog, "a", "b"), SealedSegment("m", "pages", 2, 2, b"digest")
    line = error_line(CollectionLocked, lambda: catalog.merge_segments([(names, merged)], last=2))
    assert "has changed: another process has replaced segments or archive files meanwhile. Run the command" in line
    assert catalog.segments() == before


def test_a_segment_that_another_process_has_replaced_is_not_replaced_again(catalog: Catalog) -> None:
    before, new = sealed_segments(catalog, "a"), [SealedSegment(name, "pages", 1, 1, b"digest") for name in ("c", "d")]
    error_line(CollectionLocked, lambda: catalog.replace_segments([("a", new[0]), ("lost", new[1])]))
    assert catalog.segments() == before


def test_a_transaction_is_undone_when_its_guard_refuses(catalog: Catalog) -> None:
    def refuse() -> None:
        raise CollectionLocked("the lock was lost")

    before = sealed_segments(catalog, "a")
    catalog.guard(refuse)
    error_line(CollectionLocked, lambda: sealed_segments(catalog, "b"))
    assert catalog.segments() == before


def test_runs_are_stored_from_their_start_to_their_end(catalog: Catalog) -> None:
    assert catalog.last_run() is None
    first = catalog.begin_run({"seeds": ["https://example.org/"]})
    second = catalog.begin_run({"pages": 5})
    assert second > first
    for worker, fetched in ((0, 3), (1, 4), (1, 5)):
        summary = {"fetched": fetched, "seconds": 2.0 + worker, "errors": {"dns": 1}, "run_id": second}
        catalog.commit(Batch(), WRITTEN._replace(worker=worker), second, summary)
    run = catalog.last_run()
    assert run is not None
    assert (run["run_id"], run["outcome"], run["ended"]) == (second, "running", None)
    assert (run["arguments"], run["summary"]) == (
        {"pages": 5},
        {
            "fetched": 8,
            "seconds": 3.0,
            "errors": {"dns": 2},
            "run_id": second,
            "pages_per_second": 2.67,
            "known_urls": 0,
            "queued": 0,
        },
    )
    catalog.end_run(second, "done", {"fetched": 4})
    run = catalog.last_run()
    assert run is not None
    assert (run["outcome"], run["summary"]) == ("done", {"fetched": 4})
    assert run["started"] <= run["ended"] <= time.time()
    assert json.dumps(run)


# --- readers beside the writer ---


def test_a_reader_sees_whole_commits_while_the_writer_goes_on(any_collection: Collection) -> None:
    with (
        closing(open_catalog(any_collection, create=True)) as writer,
        closing(open_catalog(any_collection)) as reader,
    ):

        def write() -> None:
            for number in range(40):
                items = [queued(f"https://example.org/{number}/{n}") for n in range(10)]
                commit(writer, Batch(admitted=items, settled=[done(item) for item in items[:4]]))

        thread = threading.Thread(target=write)
        thread.start()
        seen = [reader.counters()]
        while thread.is_alive():
            seen.append(reader.counters())
        thread.join()
        seen.append(reader.counters())
    for found in seen:
        assert found["known"] == found["queued"] + found["done"]
        assert found["known"] * 4 == found["done"] * 10
    known = [found["known"] for found in seen]
    assert known == sorted(known)
    assert known[-1] == 400


def test_a_reader_in_the_middle_of_a_result_does_not_stop_the_writer(any_collection: Collection) -> None:
    with (
        closing(open_catalog(any_collection, create=True)) as writer,
        closing(open_catalog(any_collection)) as reader,
    ):
        commit(writer, batch_of(*(queued(f"https://example.org/{n}") for n in range(50))))
        answer = reader.known_urls()
        next(answer)
        commit(writer, batch_of(queued("https://example.org/new")))
        assert len(list(answer)) == 49  # as it was when the question was asked
        assert len(list(reader.known_urls())) == 51


# --- speed ---


def test_what_is_due_is_found_without_reading_what_is_not(tmp_path: Path) -> None:
    with opened(tmp_path / "crawl.db") as catalog:
        database = catalog._database
        assert isinstance(database, SqliteDatabase)
        statements = [database._sql[name] for name in ("due_again", "next_due_again", "due_by_interval")]
        values = [[0] * (text.count("?") if "?1" not in text else 4) for text in statements]
        plans = [
            database._connection.execute(f"EXPLAIN QUERY PLAN {text}", given).fetchall()
            for text, given in zip(statements, values, strict=True)
        ]
    for plan in plans:
        assert any("urls_due" in row[3] for row in plan), plan
        assert not any(row[3].startswith("USE TEMP B-TREE FOR ORDER BY") for row in plan), plan
