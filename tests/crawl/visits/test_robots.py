"""Is a robots.txt fetched when it must be, and not more often?"""

from __future__ import annotations

import asyncio
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.crawl.visits import robots as module
from periplus.crawl.visits.robots import RobotsBusy, RobotsCache, is_unreachable
from periplus.fetch.robots import Robots
from periplus.model import Reason, Response, RobotsFile
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.sqlite_database import SqliteDatabase

ORIGIN = "http://a.test"
OTHER = "http://b.test"
DAY = 86_400.0
NOW = 1_000_000.0


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    found = Catalog(SqliteDatabase(tmp_path / "crawl.db", create=True))
    yield found
    found.close()


def remember(catalog: Catalog, file: RobotsFile) -> None:
    catalog.commit(Batch(robots=[file]), Written(0, "w00-000001.warc.gz", 0), catalog.begin_run({}), {})


def fetched(status: int = 200, body: bytes = b"", failure: Reason | None = None) -> Response:
    return Response(f"{ORIGIN}/robots.txt", NOW, status, body=body, failure=failure)


def find(cache: RobotsCache, origin: str, now: float) -> Robots | None:
    return asyncio.run(cache.find(origin, now))


def put(cache: RobotsCache, origin: str, response: Response) -> tuple[RobotsFile, Robots]:
    return asyncio.run(cache.put(origin, response))


def test_the_robots_txt_of_an_unknown_origin_has_to_be_fetched(catalog: Catalog) -> None:
    assert find(RobotsCache(catalog, DAY), ORIGIN, NOW) is None


def test_a_file_is_used_until_it_is_too_old(catalog: Catalog) -> None:
    cache = RobotsCache(catalog, DAY)
    put(cache, ORIGIN, fetched(body=b"User-agent: *\nDisallow: /x"))
    rules = find(cache, ORIGIN, NOW + DAY - 1)
    assert rules is not None
    assert not rules.verdict("/x").allowed
    assert find(cache, ORIGIN, NOW + DAY) is None


def test_a_file_of_an_earlier_run_is_used_too(catalog: Catalog) -> None:
    remember(catalog, RobotsFile(ORIGIN, NOW, 200, b"User-agent: *\nDisallow: /x"))
    rules = find(RobotsCache(catalog, DAY), ORIGIN, NOW + 10)
    assert rules is not None
    assert not rules.verdict("/x").allowed
    assert find(RobotsCache(catalog, DAY), ORIGIN, NOW + DAY) is None
    assert find(RobotsCache(catalog, DAY), "https://a.test", NOW) is None


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_an_unreachable_file_is_fetched_again(catalog: Catalog, status: int) -> None:
    remember(catalog, RobotsFile(ORIGIN, NOW, status, b""))
    assert find(RobotsCache(catalog, DAY), ORIGIN, NOW + 10) is None


def test_a_transfer_that_broke_off_is_not_an_empty_file(catalog: Catalog) -> None:
    """An empty robots.txt would allow everything."""
    file, rules = put(RobotsCache(catalog, DAY), ORIGIN, fetched(200, failure=Reason.CUT_SHORT))
    assert file.status == 0
    assert not rules.verdict("/").allowed


def test_a_forgotten_file_is_fetched_again(catalog: Catalog) -> None:
    cache = RobotsCache(catalog, DAY)
    put(cache, ORIGIN, fetched())
    cache.forget(ORIGIN)
    assert find(cache, ORIGIN, NOW) is None
    cache.forget("http://unknown.test")


@pytest.mark.parametrize(
    ("status", "open_question"), [(0, True), (200, False), (301, False), (404, False), (429, True), (503, True)]
)
def test_only_some_statuses_mean_unreachable(status: int, open_question: bool) -> None:
    assert is_unreachable(status) is open_question


# -- hostile files ----------------------------------------------------------------------------------------------------


def hostile(number: int, size: int = 40_000) -> bytes:
    """A file that takes many times its size when it is parsed."""
    rules = b"".join(b"Disallow:/%d/%x\n" % (number, rule) for rule in range(size // 12))
    return b"User-agent: *\n" + rules[:size]


def test_parsed_files_take_a_bounded_amount_of_memory(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MEMORY", 500_000)
    cache = RobotsCache(catalog, DAY)
    tracemalloc.start()
    try:
        for number in range(15):
            put(cache, f"http://h{number}.test", fetched(body=hostile(number, 10_000)))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 800_000


def test_a_file_that_was_dropped_from_memory_is_read_from_the_catalog_and_one_in_use_is_not_dropped(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MEMORY", 2_000_000)
    cache = RobotsCache(catalog, DAY)
    put(cache, ORIGIN, fetched(body=b"User-agent: *\nDisallow: /x"))
    dropped, _ = put(cache, OTHER, fetched(body=hostile(0)))
    for number in range(1, 10):
        put(cache, f"http://h{number}.test", fetched(body=hostile(number)))
        assert find(cache, ORIGIN, NOW) is not None
    assert find(cache, OTHER, NOW) is None
    remember(catalog, dropped)
    rules = find(cache, OTHER, NOW)
    assert rules is not None
    assert not rules.verdict("/0/1").allowed


def test_a_large_file_is_parsed_beside_the_event_loop_and_a_small_one_at_once(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    parse = Robots.parse

    def watched(body: bytes) -> Robots:
        threads.append(threading.current_thread())
        return parse(body)

    monkeypatch.setattr(Robots, "parse", watched)
    cache = RobotsCache(catalog, DAY)
    small, _ = put(cache, ORIGIN, fetched(body=hostile(1, 1_000)))
    large, _ = put(cache, OTHER, fetched(body=hostile(2, 100_000)))
    for file in (small, large):
        remember(catalog, file)
        assert find(RobotsCache(catalog, DAY), file.origin, NOW) is not None
    assert [thread is threading.main_thread() for thread in threads] == [True, False, True, False]


def test_only_so_many_visits_wait_until_large_files_of_others_are_parsed(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_QUEUE", 1)
    go_on = threading.Event()
    parse = Robots.parse

    def held(body: bytes) -> Robots:
        if len(body) > 50_000:
            go_on.wait(10)
        return parse(body)

    monkeypatch.setattr(Robots, "parse", held)
    small, large = hostile(1, 1_000), hostile(2, 100_000)
    files = {ORIGIN: large, OTHER: large, "http://small.test": small}
    for origin, body in files.items():
        remember(catalog, RobotsFile(origin, NOW, 200, body))

    async def main() -> None:
        cache = RobotsCache(catalog, DAY)
        first = asyncio.create_task(cache.find(ORIGIN, NOW))
        await asyncio.sleep(0)
        with pytest.raises(RobotsBusy):
            await cache.find(OTHER, NOW)
        assert await cache.find("http://small.test", NOW) is not None
        go_on.set()
        assert await first is not None
        assert await cache.find(OTHER, NOW) is not None

    asyncio.run(main())
