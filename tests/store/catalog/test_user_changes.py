"""Changes of the user and commits of a running crawl meet in the catalog: every counter stays right."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from periplus.model import Reason, UrlState
from periplus.store.catalog.batch import Batch, ForwardedUrl, Settled
from periplus.store.catalog.live_state import Action, LiveState
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.user_changes import UserChanges
from periplus.store.collection import Collection
from store.records import AT, WRITTEN, done, failed, queued, retried

URLS = [f"https://example.org/{number}" for number in range(4)]
OTHER = "https://other.example/"


@pytest.fixture
def catalog(any_collection: Collection) -> Iterator[UserChanges]:
    with closing(open_catalog(any_collection, UserChanges, create=True)) as opened:
        opened.commit(Batch(admitted=[queued(url) for url in (*URLS, OTHER)]), WRITTEN, 1, {})
        yield opened


def counted(catalog: UserChanges) -> dict[str, int]:
    """The counters, which must equal a recount."""
    found = catalog.counters()
    assert found == catalog.recount()
    return {
        name: number for name, number in found.items() if number and name in ("queued", "done", "refused", "failed")
    }


def test_a_blocked_host_leaves_the_queue_and_comes_back(catalog: UserChanges) -> None:
    assert catalog.block("example.org", "cli") == 4
    assert counted(catalog) == {"queued": 1, "refused": 4}
    assert catalog.queue_of("example.org", 9, AT) == []
    assert catalog.unblock("example.org", "cli") == 4
    assert counted(catalog) == {"queued": 5}
    assert len(catalog.queue_of("example.org", 9, AT)) == 4


@pytest.mark.parametrize(
    ("outcomes", "state", "counts"),
    [
        ([done], UrlState.DONE, {"queued": 1, "refused": 3, "done": 1}),
        ([failed], UrlState.FAILED, {"queued": 1, "refused": 3, "failed": 1}),
        ([lambda item: retried(item, due=5.0)], UrlState.QUEUED, {"queued": 2, "refused": 3}),
        ([lambda item: retried(item, due=0.0), done], UrlState.DONE, {"queued": 1, "refused": 3, "done": 1}),
    ],
)
def test_a_page_that_was_under_way_when_its_host_was_blocked_is_settled(
    catalog: UserChanges,
    outcomes: list[Callable[..., Settled]],
    state: UrlState,
    counts: dict[str, int],
) -> None:
    catalog.block("example.org", "cli")
    catalog.commit(Batch(settled=[outcome(queued(URLS[0])) for outcome in outcomes]), WRITTEN, 1, {})
    row = catalog.url(URLS[0])
    assert row is not None
    assert row["state"] == state
    assert counted(catalog) == counts


def test_one_commit_settles_queued_and_blocked_urls(catalog: UserChanges) -> None:
    catalog.block("example.org", "cli")
    catalog.commit(Batch(settled=[done(queued(OTHER)), done(queued(URLS[0]))]), WRITTEN, 1, {})
    assert counted(catalog) == {"done": 2, "refused": 3}


def test_urls_that_a_worker_stores_after_the_block_are_refused_by_the_same_commit(catalog: UserChanges) -> None:
    catalog.block("example.org", "cli")
    late = queued("https://example.org/late")
    catalog.commit(Batch(admitted=[late], blocks=["example.org"]), WRITTEN, 1, {})
    assert counted(catalog) == {"queued": 1, "refused": 5}
    catalog.unblock("example.org", "cli")
    catalog.commit(Batch(blocks=["example.org"]), WRITTEN, 1, {})
    assert counted(catalog) == {"queued": 6}


def test_every_change_is_a_command_with_its_arguments(catalog: UserChanges, any_collection: Collection) -> None:
    catalog.block("example.org", "cli")
    catalog.unblock("example.org", "console")
    catalog.retry_url(URLS[0], "api")
    catalog.add_seeds([ForwardedUrl(7, "https://new.example/", 0, Reason.SEED, "", 0)], "cli")
    with closing(open_catalog(any_collection, LiveState)) as live:
        given = [(one.action, one.arguments, one.origin) for one in live.commands_after(0)]
    assert given == [
        (Action.BLOCK, {"host": "example.org"}, "cli"),
        (Action.UNBLOCK, {"host": "example.org"}, "console"),
        (Action.RETRY, {"url": URLS[0]}, "api"),
        (Action.ADD_SEEDS, {"urls": ["https://new.example/"], "sitemaps": []}, "cli"),
    ]
    assert [found.url for _, found in catalog.forwarded_urls(0, 9)] == ["https://new.example/"]
