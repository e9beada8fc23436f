"""Is a page acknowledged only when it is durable, and is every acknowledged page readable?"""

from __future__ import annotations

import asyncio
import errno
import os
import resource
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastwarc import ArchiveIterator as FastIterator
from warcio.archiveiterator import ArchiveIterator  # type: ignore[import-untyped]

from crawl.crawling import catalog_of, environment, periplus, reach, run_crawl, segment_rows, settings_for, sound
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Request, crawl
from periplus.crawl.workers import commit
from periplus.crawl.workers.commit import Committer, FileLimits
from periplus.errors import DiskFull
from periplus.model import Decision, Fetch, Reason, Response, Verdict
from periplus.model import Page as ReadPage
from periplus.store.archive.warc_files import ArchiveWriter, Pending
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.run_summary import StepTimes
from periplus.store.collection import Collection, create_collection
from periplus.store.fleet_files.upload_rows import CatalogUploadRows
from periplus.store.fleet_files.uploads import Uploader
from periplus.store.manifest import PageRow
from periplus.store.objects.open_store import open_store
from periplus.store.segments import segment_writer as segments
from periplus.store.segments.segment_writer import SegmentStream
from store.small_disk import small_disk
from testweb import Page, Site, TestWeb, many_hosts, mesh

SEED = "http://a.test/"


def warc_files(home: Path) -> list[Path]:
    return sorted((home / "archive").glob("*.warc.gz"))


def records(home: Path) -> list[tuple[str, str, bytes]]:
    """Type, URL and payload of every record, as warcio reads them; gzip errors and bad digests fail."""
    found = []
    for file in warc_files(home):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                payload = record.content_stream().read()
                found.append((record.rec_type, record.rec_headers.get_header("WARC-Target-URI") or "", payload))
    return found


# -- the archive ------------------------------------------------------------------------------------------------------


def test_every_response_is_in_the_archive_as_it_was_sent(tmp_path: Path) -> None:
    pages = {
        "/": Page(body="<a href='/moved'>a</a><a href='/gone'>b</a><a href='/zipped'>c</a><a href='/pieces'>d</a>"),
        "/moved": Page(redirect="/end", body="moved"),
        "/end": Page(body="the end é"),
        "/gone": Page(status=404, body="no such page"),
        "/zipped": Page(body="z" * 5000, encoding="gzip"),
        "/pieces": Page(body="p" * 5000, chunked=True),
    }
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, SEED)
    found = records(tmp_path)
    assert found[0][0] == "warcinfo"
    answers = {url.removeprefix("http://a.test"): body for kind, url, body in found if kind == "response"}
    described = {path: page.body for path, page in pages.items()}
    assert answers == {path: body.encode() for path, body in described.items() if isinstance(body, str)}
    assert [kind for kind, _, _ in found[1:]] == ["request", "response"] * 6


def test_another_tool_reads_the_archive_too(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 20)]) as web:
        run_crawl(web, tmp_path, SEED)
    (file,) = warc_files(tmp_path)
    with file.open("rb") as stream:
        kinds = Counter(record.headers["WARC-Type"] for record in FastIterator(stream))
    assert kinds == {"warcinfo": 1, "request": 20, "response": 20}


def test_a_new_archive_file_begins_when_one_is_large_enough(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 40)]) as web:
        for pages in (15, 30):  # a run continues the last file of the one before
            run_crawl(
                web, tmp_path, SEED, budget=Budget(pages=pages), store__archive_bytes=10_000, store__commit_pages=3
            )
    assert len(warc_files(tmp_path)) > 3
    assert Counter(kind for kind, _, _ in records(tmp_path))["response"] == 40
    assert sound(tmp_path).checked["records"] == 40


def test_pages_that_arrive_while_the_archive_file_is_changed_are_found_at_their_position(tmp_path: Path) -> None:
    with TestWeb(many_hosts(10, 30)) as web:
        run_crawl(
            web,
            tmp_path,
            "http://h0001.test/",
            scope__hosts=[".*"],
            store__archive_bytes=5_000,
            store__commit_pages=2,
            store__commit_seconds=0.001,
        )
    assert len(warc_files(tmp_path)) > 20
    assert sound(tmp_path).checked["records"] == 300


# -- segments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [{"store__segment_seconds": 0.05}, {}])
def test_every_page_is_in_exactly_one_segment(tmp_path: Path, flags: dict[str, Any]) -> None:
    with TestWeb([mesh("a.test", 60)]) as web:
        run_crawl(web, tmp_path, SEED, store__commit_pages=4, politeness__delay=0.003, **flags)
    urls = [row["url"] for row in segment_rows(tmp_path, "pages")]
    assert len(urls) == len(set(urls)) == 60
    with catalog_of(tmp_path) as catalog:
        assert (len(catalog.segments("pages")) > 1) == bool(flags)
        assert all(file.sealed == file.committed for file in catalog.archives())
    sound(tmp_path)


# -- the order of a commit --------------------------------------------------------------------------------------------


@pytest.fixture
def collection(tmp_path: Path) -> Collection:
    return create_collection(tmp_path / "c")


@pytest.fixture
def catalog(collection: Collection) -> Iterator[Catalog]:
    found = open_catalog(collection, create=True)
    yield found
    found.close()


class ManualClock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def monotonic(self) -> float:
        return self.now


def stream_of(
    collection: Collection, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> tuple[SegmentStream, ManualClock]:
    clock = ManualClock()
    monkeypatch.setattr(segments, "time", clock)
    return SegmentStream(catalog, collection.segments, settings_for(None).store, 0), clock


def archived(catalog: Catalog) -> int:
    """An archive file that pages may be in."""
    return catalog.commit(Batch(), Written(0, "w00-000001.warc.gz", 100), catalog.begin_run({}), {})


ROW = PageRow(Fetch(SEED, 1.0, 200, Decision(Verdict.FETCHED, Reason.OK), content_id=bytes(32)), ReadPage(text="words"))


def test_pages_of_an_idle_worker_are_sealed_within_seconds_but_not_one_by_one(
    collection: Collection, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, clock = stream_of(collection, catalog, monkeypatch)
    archive_id = archived(catalog)
    assert not stream.is_overdue(idle=True), "there is nothing to seal"
    stream.add([ROW], archive_id, 50)
    assert not stream.is_overdue(idle=True), "more may come"
    clock.now += 5
    assert stream.is_overdue(idle=True)
    assert not stream.is_overdue(idle=False), "more will come"
    stream.seal()
    assert not stream.is_overdue(idle=True)
    stream.add([ROW], archive_id, 100)
    clock.now += 10
    assert not stream.is_overdue(idle=True), "the last segment was sealed a moment ago"
    clock.now += 50
    assert stream.is_overdue(idle=True)
    stream.discard()


def test_an_old_segment_is_sealed_even_if_no_more_pages_come(
    collection: Collection, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, clock = stream_of(collection, catalog, monkeypatch)
    stream.add([ROW], archived(catalog), 50)
    clock.now += settings_for(None).store.segment_seconds
    assert stream.is_overdue(idle=False)
    stream.discard()


def committing(collection: Collection, work: Callable[[Committer], Any]) -> None:
    """Run *work* with a committer, in a loop of its own."""

    async def run() -> None:
        committer = Committer(collection, settings_for(None).store, 0, 1, StepTimes(0.0))
        try:
            await work(committer)
        finally:
            committer.close()

    asyncio.run(run())


def test_nothing_is_acknowledged_before_its_bytes_are_on_disk(
    collection: Collection, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async def work(committer: Committer) -> None:
        committer.archive(Response(SEED, 1.0, 200, head=b"HTTP/1.1 200 OK\r\n", body=b"x"))
        monkeypatch.setattr(os, "fsync", no_room)
        with pytest.raises(DiskFull, match="no space left to write"):
            await committer.commit(Batch(seeds=[SEED]), [], {})
        monkeypatch.undo()

    committing(collection, work)
    assert (catalog.seeds(), catalog.archives()) == ([], [])


def test_pages_that_arrive_while_a_commit_begins_belong_to_the_next(collection: Collection, catalog: Catalog) -> None:
    answer = Response(SEED, 1.0, 200, head=b"HTTP/1.1 200 OK\r\n", body=b"x")

    async def work(committer: Committer) -> None:
        position = committer.archive(answer).position
        durable = committer.commit(Batch(seeds=[SEED]), [], {})
        committer.archive(answer)
        await durable
        (file,) = catalog.archives()
        assert file.committed == position.offset + position.length

    committing(collection, work)


def test_bytes_without_acknowledgement_are_cut_off_by_the_next_run(collection: Collection, catalog: Catalog) -> None:
    async def acknowledged(committer: Committer) -> None:
        committer.archive(Response(SEED, 1.0, 200, head=b"HTTP/1.1 200 OK\r\n", body=b"x"))
        await committer.commit(Batch(seeds=[SEED]), [], {})

    committing(collection, acknowledged)
    (file,) = catalog.archives()
    path = collection.archive / file.name
    assert path.stat().st_size == file.committed
    path.write_bytes(path.read_bytes() + b"half a record")

    async def nothing(committer: Committer) -> None:
        pass

    committing(collection, nothing)
    assert path.stat().st_size == file.committed


# -- uploads of a fleet -----------------------------------------------------------------------------------------------


def test_a_page_of_the_last_batch_of_a_file_is_uploaded_with_it(
    tmp_path: Path, postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The uploader looks at the moment when the next file has begun, and the last batch is not yet written."""
    (tmp_path / "objects").mkdir()
    create_collection(tmp_path / "node")
    node = Collection(tmp_path / "node", postgres, f"file://{tmp_path}/objects")
    open_catalog(node, create=True).close()
    uploaders, sync = [], ArchiveWriter.sync
    looks: list[bool] = []

    def uploading(collection: Collection, worker: int, growing: Callable[[], str], _former: Sequence[int]) -> Uploader:
        rows = open_catalog(collection, partial(CatalogUploadRows, worker=worker))
        uploaders.append(Uploader(collection, open_store(collection.storage), rows, (worker,), growing))
        return uploaders[0]  # its thread is not started

    def look_and_sync(writer: ArchiveWriter, pending: Pending) -> None:
        if len(looks) == 1:
            uploaders[0].upload()
        looks.append(True)
        sync(writer, pending)

    monkeypatch.setattr(commit, "uploading", uploading)
    monkeypatch.setattr(ArchiveWriter, "sync", look_and_sync)

    async def run() -> None:
        committer = Committer(node, settings_for(None).store, 1000, 1, StepTimes(0.0), FileLimits(size=2_000))
        for size in (10, 4_000):  # the second one completes the file
            committer.archive(Response(SEED, 1.0, 200, head=b"HTTP/1.1 200 OK\r\n", body=os.urandom(size)))
            await committer.commit(Batch(seeds=[SEED]), [], {})
        await committer.finish()
        await committer.upload()

    asyncio.run(run())
    with closing(open_catalog(node)) as catalog:
        first = catalog.archives(1000)[0]
    assert not (node.home / "kept").exists()
    assert uploaders[0].uploaded_bytes == first.committed, "it was uploaded once"
    assert [(one.name, one.size) for one in open_store(node.storage).list("archive")] == [
        (f"archive/{first.name}", first.committed)
    ]


def test_a_worker_that_cannot_add_the_pages_of_a_lost_node_ends(
    collection: Collection, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise DiskFull("no space left to write")

    async def work(committer: Committer) -> None:
        assert not committer.is_overdue(idle=False)
        monkeypatch.setattr(SegmentStream, "add", no_room)
        with pytest.raises(DiskFull):
            committer.add_recovered([ROW], 1, 100)
        assert committer.is_overdue(idle=False), "the worker calls `seal`"
        with pytest.raises(DiskFull):
            await committer.seal()

    committing(collection, work)


# -- no room ----------------------------------------------------------------------------------------------------------


def full_pages() -> list[Site]:
    """Two meshes whose pages hardly compress, so that little room is soon used up."""
    sites = many_hosts(2, 120)
    for site in sites:
        for path in list(site.pages):
            page = site.pages[path]
            noise = os.urandom(3000).hex()
            site.pages[path] = Page(page.title, noise, page.links)
    return sites


def crawl_command(web: TestWeb, home: Path, workers: int = 1) -> list[str | Path]:
    options = ["--scope-host", ".*", "--workers", str(workers), "--json"]
    return ["crawl", "http://h0001.test/", "--home", home, *options, *reach(web)]


def assert_clear_end(outcome: Any, home: Path) -> None:
    assert outcome.code == 3, outcome
    assert "no space left to write" in outcome.complaint
    assert "free some space and run the same command again" in outcome.complaint
    assert str(home) in outcome.complaint


def assert_resumes_whole(web: TestWeb, home: Path, env: dict[str, str]) -> None:
    kept = 0
    if (home / "crawl.db").exists() and (home / "crawl.db").stat().st_size:
        with catalog_of(home) as catalog:
            kept = catalog.counters()["fetched"]
        sound(home)
    fetched_before = sum(web.log.fetched().values())
    outcome = periplus(*crawl_command(web, home), env=env)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["fetched"] == 240 - kept
    assert sum(web.log.fetched().values()) - fetched_before == 240 - kept
    sound(home)
    urls = [row["url"] for row in segment_rows(home, "pages")]
    assert len(urls) == len(set(urls)) == 240


@pytest.mark.slow
@pytest.mark.parametrize(
    ("room", "workers"),
    [(10_000, 1), (40_000, 1), (80_000, 1), (250_000, 1), (400_000, 2), (700_000, 1), (700_000, 2), (1_000_000, 1)],
)
def test_a_full_disk_is_reported_and_loses_nothing_once_there_is_room(tmp_path: Path, room: int, workers: int) -> None:
    env = environment(store__commit_pages=8, store__segment_bytes=50_000)
    with TestWeb(full_pages()) as web, small_disk(tmp_path / "disk", "40m") as disk:
        ballast = disk / "ballast"
        ballast.write_bytes(bytes(40 * 1024 * 1024 - 4096 - room))
        home = disk / "home"
        assert_clear_end(periplus(*crawl_command(web, home, workers), env=env), home)
        again = periplus(*crawl_command(web, home, workers), env=env)  # still no room
        assert_clear_end(again, home)
        ballast.unlink()
        assert_resumes_whole(web, home, env)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "workers"),
    [
        (10, 1),
        (5_000, 1),
        (20_000, 1),
        (40_000, 1),
        (80_000, 1),
        (120_000, 1),
        (200_000, 1),
        (200_000, 2),
        (300_000, 1),
    ],
)
def test_a_file_that_may_not_grow_is_reported_and_loses_nothing(tmp_path: Path, limit: int, workers: int) -> None:
    env = environment(store__commit_pages=8, store__segment_bytes=50_000)

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    with TestWeb(full_pages()) as web:
        assert_clear_end(periplus(*crawl_command(web, tmp_path, workers), env=env, preexec_fn=limited), tmp_path)
        assert_resumes_whole(web, tmp_path, env)


# -- keys of known URLs ---------------------------------------------------------------------------------------------


def test_keys_are_packed_by_share_while_workers_commit_and_give_shares(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "_COMMITS_PER_PACKING", 2)
    monkeypatch.setattr("periplus.store.catalog.catalog._SEEN_CHUNKS", 3)
    settings = {"scope__hosts": [".*"], "store__commit_pages": 4}
    with TestWeb(many_hosts(20, 15)) as web:
        crawl(Request(tmp_path, settings_for(web, **settings), ["http://h0001.test/"], workers=3))
        assert set(web.log.fetched().values()) == {1}, "a URL whose key was lost would be admitted twice"
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters()["known"] == 300
        assert len({key for keys, _ in catalog.seen_keys() for key in keys.tolist()}) == 300
        assert len(list(catalog.seen_keys([]))) < 300 / 4, "most chunks were packed"
        assert len(list(catalog.seen_keys())) > len(list(catalog.seen_keys([])))
    sound(tmp_path)
