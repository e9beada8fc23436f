"""Every method of every role of the catalog has the same effect in SQLite and in PostgreSQL.

Each test calls all public methods of a role; a new method that no test calls is reported.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from contracts.twins import Twins
from periplus.model import (
    NOTHING_NEW,
    ArchivePosition,
    Copy,
    CrawlQuality,
    Decision,
    HostPolicy,
    Pattern,
    QueuedUrl,
    Reason,
    RobotsFile,
    UrlState,
    Verdict,
)
from periplus.store.block_list import new_block_list
from periplus.store.catalog.batch import (
    ArchiveFile,
    Batch,
    ForwardedUrl,
    Refusal,
    Revisit,
    Settled,
    SitemapNotice,
    Written,
)
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.forget_catalog import ForgetCatalog
from periplus.store.catalog.listings import HOST_FILTERS, HOST_ORDERS, HostQuery, Listings
from periplus.store.catalog.live_state import Action, LiveState, Publication, Role, WorkerRow
from periplus.store.catalog.open_catalog import set_block_list
from periplus.store.catalog.prune_catalog import PruneCatalog, Replacement
from periplus.store.catalog.queries import Queries
from periplus.store.catalog.repair_catalog import RepairCatalog
from periplus.store.catalog.user_changes import UserChanges
from periplus.store.collection import Collection
from periplus.store.manifest import SealedSegment
from periplus.store.shares import share_of
from store.records import AT, OK, a_fetch, failed, queued, refused, retried

A, B = "a.example", "b.example"
FIRST, SECOND = Written(0, "w00-000001.warc.gz", 4_096), Written(1, "w01-000001.warc.gz", 8_192)
TRAP = Pattern(A, "/x/*", 6.0, 9, 8, 2, 10, 1, 2)
SAME = Decision(Verdict.FETCHED, Reason.SAME_CONTENT)
SUSPECTED = Decision(Verdict.REFUSED, Reason.TRAP_LEARNED, "pages like /x/* said nothing new")
WORKER = WorkerRow("node", Role.CRAWL, 0, 4_711, 90.0, AT, "running", 3, {"fetched": 7})


@pytest.fixture
def collections(tmp_path: Path, postgres: str) -> list[Collection]:
    for name in ("sqlite", "postgres"):
        (tmp_path / name).mkdir()
    return [Collection(tmp_path / "sqlite"), Collection(tmp_path / "postgres", postgres)]


@pytest.fixture
def twins(collections: list[Collection], monkeypatch: pytest.MonkeyPatch) -> Twins:
    return Twins(collections, monkeypatch)


def summary(fetched: int) -> dict[str, Any]:
    return {"fetched": fetched, "seconds": 2.0, "pages_per_second": fetched / 2, "errors": {"dns": 1}}


def item(host: str, page: object, **changes: Any) -> QueuedUrl:
    priority = crc32(str(page).encode()) / 1e6  # no two are equal: their order would be open
    return queued(f"https://{host}/{page}", priority)._replace(depth=2, **changes)


def many(host: str, number: int) -> list[QueuedUrl]:
    return [item(host, f"many/{page}") for page in range(number)]


def archived(found: QueuedUrl, offset: int, decision: Decision = OK, content: bytes = b"") -> Settled:
    fetch = a_fetch(found.url, decision=decision, position=ArchivePosition("", offset, 100))
    plan = found._replace(visits=found.visits + 1, interval=3_600.0, evidence=1.5, visited=AT, due=AT + 3_600)
    return Settled(plan, UrlState.DONE, decision, fetch._replace(content_id=content or fetch.content_id))


def first_batch() -> Batch:
    """Something in every field: a few rows, which are written one by one, and many, which are written at once."""
    items, sitemap = many(A, 40), item(A, "sitemap.xml", reason=Reason.SITEMAP)
    seed = item(A, "", reason=Reason.SEED)
    old, moved = item(B, "old"), item(B, "moved")
    redirect = archived(moved, 9_000, Decision(Verdict.FETCHED, Reason.REDIRECTED))
    assert redirect.fetch is not None
    batch = Batch(
        admitted=[seed, sitemap, *items, old, moved, item(A, "x/1"), item(B, "dull"), item(B, "waiting", due=math.inf)],
        seeds=[seed.url],
        settled=[
            *(archived(found, number * 100) for number, found in enumerate(items[:20])),
            *(failed(found) for found in items[20:25]),
            refused(items[25]),
            retried(items[26], AT + 60),
            failed(old)._replace(item=old._replace(visits=2, visited=AT, due=math.inf)),
            redirect._replace(fetch=redirect.fetch._replace(redirect_to=items[0].url)),
            Settled(item(A, "x/1"), UrlState.REFUSED, SUSPECTED),
            archived(item(B, "dull"), 9_100, Decision(Verdict.FETCHED, Reason.OK, NOTHING_NEW)),
        ],
        versions=[a_fetch(items[0].url, decision=OK, position=ArchivePosition("", 9_200, 50))],
        entered=[archived(item(B, "entry"), 9_300, Decision(Verdict.READ, Reason.OK))],
        samples=[Refusal(B, f"https://{B}/no/{n}", refused(old).decision, items[0].url) for n in range(15)],
        policies={host: HostPolicy(host, 2.0, "robots.txt", AT + 5, 1) for host in (A, B)},
        robots=[RobotsFile(f"https://{A}", AT, 200, b"User-agent: *"), RobotsFile(f"https://{A}:8443", AT, 404, b"")],
        forwarded=[ForwardedUrl(n, f"https://far{n}.example/", 1, Reason.LINK, seed.url, 0) for n in range(15)],
        patterns=[TRAP, Pattern(B, "/y/*", 1.0, 1, 1, 0, 10)],
        copies=[Copy(items[1].url, items[0].url, 3), Copy(items[2].url, items[0].url, 0)],
        imported=[old.url, sitemap.url],
    )
    for number in range(15):
        batch.refused[f"far{number}.example", Reason.SCOPE_HOST] += number + 1
    batch.refused[B, Reason.ROBOTS] += 2
    for host in (A, B):
        batch.add_quality(host, CrawlQuality(0.5, 0.25, 1.0, 1.0, 0.0, 0.125))
    return batch


def second_batch() -> Batch:
    items = many(A, 40)
    revisits = [
        Revisit(found._replace(visits=1, interval=3_600.0, evidence=1.5, visited=AT), UrlState.DONE)
        for found in items[:16]
    ]
    twin = archived(item(B, "twin"), 0, content=a_fetch(items[5].url).content_id)
    return Batch(
        admitted=[item(B, "twin"), *items[:3]],  # three are known
        revisits=revisits,
        settled=[twin, *(archived(one.item, 1_000 + n, SAME) for n, one in enumerate(revisits[:14]))],
        notices=[
            SitemapNotice(AT + 9, AT, 2.0, 86_400.0, items[17].url),
            SitemapNotice(AT - 99, AT - 50, 2.0, 86_400.0, items[18].url),
            SitemapNotice(AT - 99, AT + 50, 2.0, 86_400.0, items[19].url),
        ],
        received=[1, 2],
        harmless=[(A, "/x/*")],
        publication=Publication(WORKER, {"pages": 7}),
    )


def fill(catalog: Catalog) -> None:
    """Two commits of two workers."""
    run_id = catalog.begin_run({"seeds": ["https://a.example/"]})
    assert catalog.commit(first_batch(), FIRST, run_id, summary(20)) == 1
    assert catalog.commit(second_batch(), SECOND, run_id, summary(3)) == 2


def segment(name: str, rows: int = 3) -> SealedSegment:
    return SealedSegment(name, name.partition("-")[0], rows, 900, b"digest" + name.encode())


def read_everything(queries: Queries) -> None:
    """Ask every question of a reader."""
    urls = [found.url for found in (*many(A, 40), item(B, "old"), item(B, "dull"), item(B, "twin"))]
    queries.check()
    queries.block_list()
    queries.robots(f"https://{A}")
    queries.robots_of(A)
    queries.policy(A)
    queries.seeds()
    queries.blocked_hosts()
    queries.queue(1_000)
    queries.queued_hosts()
    queries.head_of_queue(A, 5)
    queries.archives()
    queries.archives(1)
    queries.unsealed_archives(1)
    queries.archive_workers()
    queries.fetches_in(1)
    queries.fetches_in(1, 500)
    queries.redirects()
    queries.segments()
    queries.segments("links")
    queries.unsealed_pages()
    queries.last_segment(0)
    queries.runs(5)
    queries.run(1)
    queries.last_run()
    queries.progress(1)
    queries.worker_summary(1, 1)
    assert queries.counters() == queries.recount()
    queries.miscounted_hosts()
    queries.miscounted_outcomes()
    queries.refusals()
    queries.next_due_again(AT)
    queries.due_by_interval(AT + 1e6, (60.0, 600.0, 6_000.0))
    queries.vanished()
    queries.vanished(f"https://{B}/old")
    queries.imported_out_of_scope()
    for url in urls:
        queries.url(url)
        queries.fetches_of(url)
        queries.version_of(url)
        queries.had_nothing_new(url)
        queries.copy(url)
    queries.copies_of(urls[0], 5)
    queries.refusal_of(B, f"https://{B}/no/3")
    for host in (A, B, "unknown.example"):
        queries.url_states(host)
        queries.refusals_of(host)
        queries.quality_of(host)
        queries.patterns_of(host)
        queries.size_of_domain(host)
    queries.refusals_of("far3.example")


def read_queues(catalog: Catalog) -> None:
    catalog.waiting_hosts()
    catalog.waiting_hosts([share_of(A)])
    for host in (A, B, "unknown.example"):
        catalog.queue_of(host, 50, math.inf)
        catalog.queue_of(host, 5, AT)
        catalog.next_due(host, AT)
    catalog.due_again(AT + 1e6, (-math.inf, 0.0, ""), 10)
    catalog.due_again(AT + 1e6, (AT + 3_600, 3_600.0, f"https://{A}/many/2"), 10)
    catalog.known_urls()
    catalog.seen_keys()
    catalog.seen_keys([share_of(B)])
    catalog.forwarded_urls(0, 100)
    catalog.forwarded_urls(5, 3)
    catalog.domain_sizes()
    catalog.domain_sizes({share_of(A)})
    catalog.hosts()
    catalog.hosts({share_of(B)})
    catalog.patterns()


def test_a_reader_of_either_sees_the_same(twins: Twins, collections: list[Collection]) -> None:
    with twins.opened(UserChanges) as catalog:
        fill(catalog)
        catalog.seal(0, 1, [segment("pages-1"), segment("links-1")], {1: 4_000})
        catalog.block(B, "cli")
    for collection in collections:
        blocked = new_block_list()
        set_block_list(collection, blocked.extended(blocked.host_entry("gone.example")))
    with twins.opened(_KeyedAlike, read_only=True) as queries:
        read_everything(queries)
    missing = twins.missing(Queries, may_be_empty=("check", "miscounted_hosts", "miscounted_outcomes"))
    assert missing == ["place"]  # each has its own


class _KeyedAlike(Queries):
    """A reader that compares block lists by what they block: their keys are random."""

    def block_list(self) -> bool:  # type: ignore[override]
        found = super().block_list()
        return found.blocks("https://gone.example/page") and not found.blocks("https://example.org/")


def test_a_crawl_writes_the_same_into_either(twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("periplus.store.catalog.catalog._SEEN_CHUNKS", 0)
    with twins.opened(Catalog) as catalog:
        fill(catalog)
        read_queues(catalog)
        catalog.publish(Publication(WORKER, {"pages": 8}))
        catalog.requeue([f"https://{A}/many/21", f"https://{A}/many/3", f"https://{B}/moved"], done_too=True)
        catalog.requeue([f"https://{A}/many/22"])
        catalog.requeue_sitemaps([f"https://{A}/sitemap.xml", f"https://{A}/many/4"])
        catalog.requeue_trapped()
        assert catalog.release_held() == 1
        read_queues(catalog)
        for number in (1, 2, 3):
            catalog.seal(0, number, [segment(f"pages-{number}"), segment(f"links-{number}")], {1: number * 1_000})
        catalog.replace_segments([("pages-1", segment("pages-1b", 5))])
        catalog.merge_segments([(["pages-2", "pages-3"], segment("pages-2m", 6))], last=3)
        catalog.pack_seen()
        run_id = catalog.begin_run({})
        blocked = Batch(blocks=[B], retried=[A])
        catalog.commit(blocked, SECOND, run_id, summary(1))
        catalog.end_round(run_id, {"rounds": 1, **summary(1)})
        catalog.end_run(run_id, "complete", summary(1))
        read_everything(catalog)
        read_queues(catalog)
    nothing = ("publish", "requeue", "requeue_trapped", "requeue_sitemaps", "pack_seen", "seal", "replace_segments")
    missing = twins.missing(Catalog, may_be_empty=(*nothing, "merge_segments", "end_round", "end_run"))
    # For the locks of a fleet: tests/store/database/postgres/test_fleet_rows.py and test_database.py.
    assert missing == ["fence", "guard"]


def test_processes_report_the_same_into_either(twins: Twins) -> None:
    with twins.opened(LiveState) as live:
        live.publish(WORKER)
        live.publish(replace(WORKER, number=1, state="idle"))
        live.publish(replace(WORKER, seen=AT + 1))
        builder = WorkerRow("node", Role.INDEX, 0, 1, 90.0, AT, "running", 0, {"rate_limit": 12.0})
        live.publish(builder)
        assert live.rate_limit(AT + 1) == 6.0
        live.command(Action.PAUSE, {}, node="node", origin="console")
        assert live.is_paused("node") is True
        live.command(Action.RESUME, {"why": "ok"})
        live.is_paused("node")
        live.commands_after(0)
        live.commands_after(1)
        live.newest_commands(5)
        live.last_command()
        live.add_sample(AT, {"pages": 1})
        live.add_sample(AT, {"pages": 2})
        live.add_sample(AT + 1, {"pages": 3})
        live.samples(0.0)
        live.remove("node", Role.CRAWL, 0)
        live.workers()
        live.remove_all("node", Role.CRAWL)
        live.workers()
        live.nodes()  # none is registered: tests/store/database/postgres/test_fleet_rows.py registers some
    assert not twins.missing(LiveState, may_be_empty=("publish", "remove", "remove_all", "add_sample", "nodes"))


def test_the_lists_of_either_are_the_same(twins: Twins) -> None:
    with twins.opened(UserChanges) as catalog:
        fill(catalog)
        catalog.block("far1.example", "cli")
    with twins.opened(Listings, read_only=True) as lists:
        for order in HOST_ORDERS:
            for only in HOST_FILTERS:
                page = lists.hosts(HostQuery(order, only), AT, 1)
                after = (page[0][1], page[0][0].host) if page else None
                lists.hosts(HostQuery(order, only, after=after), AT, 10)
        lists.hosts(HostQuery(contains="b.ex"), AT, 10)
        lists.host(A)
        lists.host("unknown.example")
        lists.blocked_since("far1.example")
        lists.first_states(A, 10)
        for state in (UrlState.REFUSED, UrlState.FAILED):
            for group in lists.outcomes(state):
                found = lists.urls_with(state, (group.reason, group.status), 2)
                lists.urls_with(state, (group.reason, group.status), 9, (found[-1]["changed"], found[-1]["url"]))
        lists.refused_links()
        found = lists.refusal_samples(Reason.ROBOTS, 3)
        lists.refusal_samples(Reason.ROBOTS, 99, (found[-1]["host"], found[-1]["url"]))
        lists.seeds(5)
        lists.sitemaps(5)
        lists.patterns(0.0, 1)
        lists.patterns(0.0, 9, (2, A, "/x/*"))
        lists.samples(0.0, AT + 10, 5)
        lists.last_samples(5)
    assert not twins.missing(Listings)


def test_changes_of_the_user_are_the_same_in_either(twins: Twins) -> None:
    with twins.opened(UserChanges) as catalog:
        fill(catalog)
        named = ForwardedUrl(7, f"https://{B}/new", 0, Reason.SEED, "", 0)
        sitemap = ForwardedUrl(8, f"https://{A}/many/21", 0, Reason.SITEMAP, "", 0)
        catalog.add_seeds([named, named._replace(url=f"https://{A}/many/20"), sitemap], "cli")
        target = item(B, "target", reason=Reason.SEED, via=f"https://{A}/", redirects=1)
        catalog.commit(Batch(admitted=[target], seeds=[target.url]), FIRST, 1, summary(0))
        redirected = catalog.redirected_seeds(f"https://{A}/")
        out = {B: Decision(Verdict.REFUSED, Reason.SCOPE_HOST, "no match")}
        catalog.remove_seed([f"https://{A}/", *redirected], out, "console")
        catalog.block(A, "cli")
        catalog.unblock(A, "cli")
        catalog.commit(Batch(admitted=[item(A, "x/2")], settled=[]), FIRST, 1, summary(0))
        trapped = Settled(item(A, "x/2"), UrlState.REFUSED, SUSPECTED)
        catalog.commit(Batch(settled=[trapped]), FIRST, 1, summary(0))
        catalog.unlearn(TRAP, "api")
        catalog.retry_host(A, "cli")
        catalog.retry_url(f"https://{A}/many/1", "cli")
        read_everything(catalog)
        read_queues(catalog)
    with twins.opened(LiveState, read_only=True) as live:
        live.commands_after(0)
    assert not twins.missing(UserChanges)


def test_a_repair_changes_either_in_the_same_way(twins: Twins) -> None:
    with twins.opened(RepairCatalog) as catalog:
        fill(catalog)
        catalog.seal(0, 1, [segment("pages-1"), segment("links-1")], {1: 1_000})
        lost = catalog.fetches_in(1)[3:6]
        catalog.forget(1, lost)
        catalog.add_blocked(["bad.example", B])
        catalog.add_archive(3, "w03-000001.warc.gz", 77)
        catalog.set_archive_size(ArchiveFile(1, FIRST.name, 4_096, 1_000), 500)
        catalog.rename_archive(ArchiveFile(2, SECOND.name, 8_192, 0), "renamed.warc.gz")
        catalog.drop_segments(["links-1"])
        catalog.add_salvaged(["https://c.example/"], [item("c.example", page) for page in range(30)])
        catalog.count_again()
        read_everything(catalog)
        catalog.claim_segments()
        catalog.unsealed_pages()
        assert catalog.miscounted_hosts() == catalog.miscounted_outcomes() == []
        read_queues(catalog)
    with twins.opened(Listings, read_only=True) as lists:
        lists.outcomes(UrlState.FAILED)
    names = [name for name in vars(RepairCatalog) if not name.startswith("_")]
    assert not twins.missing(RepairCatalog, may_be_empty=tuple(names))  # all of them only write


def test_a_prune_changes_either_in_the_same_way(twins: Twins) -> None:
    with twins.opened(PruneCatalog) as catalog:
        fill(catalog)
        catalog.seal(0, 1, [segment("pages-1")], {1: 4_096})
        same = archived(item("c.example", "same"), 9_950, SAME, a_fetch(f"https://{A}/many/9").content_id)
        catalog.commit(Batch(admitted=[same.item], settled=[same]), FIRST, 1, summary(0))
        catalog.archived_fetches()
        file = ArchiveFile(1, FIRST.name, 4_096, 4_096)
        moved = [(offset, offset - 200) for offset in range(200, 2_000, 100)]
        catalog.replace_archive(
            Replacement(file, "w00-000001r1.warc.gz", 1_800, frozenset({0, 100}), moved),
            [("pages-1", segment("pages-1p"))],
        )
        catalog.archived_fetches()
        catalog.fetches_in(1)
        catalog.referred_contents()
        read_everything(catalog)
    assert not twins.missing(PruneCatalog, may_be_empty=("replace_archive",))


@pytest.mark.parametrize("kind", ["url", "host"])
def test_either_forgets_the_same(twins: Twins, kind: str) -> None:
    forgotten = f"https://{A}/many/0"
    with twins.opened(UserChanges) as catalog:
        fill(catalog)
        named = [forgotten, f"https://{B}/", f"https://{A}/"]
        catalog.add_seeds([ForwardedUrl(7, url, 0, Reason.SEED, "", 0) for url in named], "cli")
        other = archived(item("c.example", "same"), 9_900, content=a_fetch(f"https://{A}/many/1").content_id)
        again = archived(item("c.example", "same"), 9_950, SAME, a_fetch(forgotten).content_id).fetch
        assert again is not None
        catalog.commit(Batch(admitted=[other.item], settled=[other], versions=[again]), FIRST, 1, summary(0))
        catalog.end_run(1, "complete", {"errors": [f"{forgotten}: 404", f"the host {A}"]})
        catalog.seal(0, 1, [segment("pages-1")], {1: 4_096})
    blocked = new_block_list()
    only = blocked.extended(blocked.url_entry(forgotten) if kind == "url" else blocked.host_entry(A))
    with twins.opened(partial(ForgetCatalog, blocked=only)) as catalog:
        assert catalog.mentions()
        catalog.positions()
        catalog.kept_positions()
        catalog.forgotten_urls()
        catalog.same_content()
        counted = catalog.count()
        assert catalog.purge([("pages-1", segment("pages-1f"))]) == counted
        read_everything(catalog)
        read_queues(catalog)
    with twins.opened(partial(ForgetCatalog, blocked=only)) as catalog:
        assert not catalog.mentions()
        assert not catalog.count()
    may_be_empty = ("kept_positions", "same_content") if kind == "host" else ()
    assert not twins.missing(ForgetCatalog, may_be_empty=may_be_empty)
