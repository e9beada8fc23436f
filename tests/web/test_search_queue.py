"""With many concurrent clients, each gets an answer soon, or 503 at once."""

from __future__ import annotations

import asyncio
import http.client
import threading
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

import pytest
from starlette.requests import Request

from periplus.config import Serving
from periplus.site import server
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web import app
from periplus.web.api.routes import SearchApi
from periplus.web.search_queue import THREADS, SearchQueue
from web.engines import ARCHIVED, FakeEngine
from web.serving import Site, searching, serving

IMPATIENT = Serving(longest_wait=0)  # a search that would have to wait is refused


class Barrier:
    """Stops every search of an engine until the test opens it."""

    def __init__(self) -> None:
        self._entered = threading.Semaphore(0)
        self._open = threading.Event()
        self.engine = FakeEngine(before=self._hold)

    def _hold(self) -> None:
        self._entered.release()
        assert self._open.wait(20)

    def wait_for(self, searches: int) -> None:
        """Return when so many more searches have begun."""
        for _ in range(searches):
            assert self._entered.acquire(timeout=10)

    def open(self) -> None:
        """Let all searches go on."""
        self._open.set()

    def close(self) -> None:
        """Stop the searches that begin from now on."""
        self._open.clear()

    @property
    def computed(self) -> list[object]:
        """The queries that reached the engine."""
        return [asked["query"] for asked in self.engine.asked]


@contextmanager
def all_threads_busy(barrier: Barrier, settings: Serving | None = None) -> Iterator[tuple[Site, ThreadPoolExecutor]]:
    """A site whose threads are all in a search; in the end every one of these searches is answered."""
    with ExitStack() as stack:
        site = stack.enter_context(searching(barrier.engine, settings))
        pool = stack.enter_context(ThreadPoolExecutor())
        stack.callback(barrier.open)
        busy = [pool.submit(site.get, "/api/search?q=busy") for _ in range(THREADS)]
        barrier.wait_for(THREADS)
        yield site, pool
        barrier.open()
        assert [answer.result().status for answer in busy] == THREADS * [200]


def hang_up(site: Site, words: bytes) -> None:
    """Send a request and close the connection without reading the answer."""
    with site.connect() as connection:
        connection.sendall(words)


def let_the_server_notice(site: Site) -> None:
    """Connections made before these have been read to their end when these are answered."""
    for _ in range(5):
        assert site.get("/healthz").status == 200


def asking(query: str) -> bytes:
    return f"GET /api/search?q={query} HTTP/1.1\r\nHost: a\r\n\r\n".encode()


def test_one_slow_search_does_not_stop_the_others() -> None:
    first = threading.Event()
    release = threading.Event()

    def hold_the_first() -> None:
        if not first.is_set():
            first.set()
            release.wait(10)

    with searching(FakeEngine(before=hold_the_first)) as site, ThreadPoolExecutor() as pool:
        slow = pool.submit(site.get, "/api/search?q=slow")
        assert first.wait(10)
        assert site.get("/api/search?q=quick").status == 200
        assert site.get("/").status == 200
        release.set()
        assert slow.result().status == 200


@pytest.mark.parametrize("pipelined", [1, 3])
def test_searches_of_clients_that_hung_up_are_not_computed(pipelined: int) -> None:
    barrier = Barrier()
    with all_threads_busy(barrier) as (site, pool):
        for _ in range(100):
            hang_up(site, pipelined * asking("abandoned"))
        let_the_server_notice(site)
        live = pool.submit(site.get, "/api/search?q=live")
        let_the_server_notice(site)
        barrier.open()
        assert live.result().status == 200
    assert "live" in barrier.computed
    assert barrier.computed.count("abandoned") < 10


def test_clients_that_hung_up_do_not_take_the_place_of_others() -> None:
    barrier = Barrier()
    with all_threads_busy(barrier, Serving(longest_wait=1)) as (site, pool):
        for _ in range(500):
            hang_up(site, asking("abandoned"))
        let_the_server_notice(site)
        live = pool.submit(site.get, "/api/search?q=live")
        let_the_server_notice(site)
        barrier.open()
        assert live.result().status == 200


def test_a_client_that_hung_up_is_no_error_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    barrier = Barrier()
    with all_threads_busy(barrier) as (site, _):
        hang_up(site, asking("abandoned"))
        let_the_server_notice(site)
    assert not caplog.records


def test_a_search_that_would_wait_too_long_is_refused_at_once() -> None:
    barrier = Barrier()
    with all_threads_busy(barrier, IMPATIENT) as (site, _):
        for path in ("/search?q=x", "/api/search?q=x", f"/cached?url={ARCHIVED.url}"):
            refused = site.get(path)
            assert refused.status == 503
            assert int(refused.headers["retry-after"]) >= 1
            assert "Too many searches" in refused.text
            assert refused.headers["cache-control"] == "no-store"
        assert site.get("/api/search?q=x").json["status"] == 503
        assert len(barrier.computed) == THREADS
    assert barrier.computed == THREADS * ["busy"]


def test_a_search_under_way_when_the_site_stops_is_answered_and_no_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server, "_SHUTDOWN_SECONDS", 0)
    barrier = Barrier()
    with ThreadPoolExecutor() as pool:
        with searching(barrier.engine) as site:
            busy = pool.submit(site.get, "/api/search?q=busy")
            barrier.wait_for(1)
        assert busy.result().status == 503
        barrier.open()
    assert not [record for record in caplog.records if record.exc_info]


def test_after_an_overload_searches_are_admitted_again() -> None:
    barrier = Barrier()
    with searching(barrier.engine, IMPATIENT) as site, ThreadPoolExecutor() as pool:
        busy = [pool.submit(site.get, "/api/search?q=busy") for _ in range(THREADS)]
        barrier.wait_for(THREADS)
        assert site.get("/api/search?q=x").status == 503
        barrier.open()
        assert [answer.result().status for answer in busy] == THREADS * [200]
        assert site.get("/api/search?q=x").status == 200


@pytest.mark.parametrize("path", ["/", "/healthz", "/robots.txt", "/opensearch.xml", "/static/logo.svg"])
def test_other_pages_do_not_wait_for_searches(path: str) -> None:
    with all_threads_busy(Barrier(), IMPATIENT) as (site, _):
        assert site.get(path).status == 200
        assert site.get("/no-such-page").status == 404


def test_idle_connections_do_not_count_as_searches() -> None:
    with searching(FakeEngine(), IMPATIENT) as site, ExitStack() as stack:
        for _ in range(5 * THREADS):
            client = http.client.HTTPConnection(site.host, site.port, timeout=10)
            stack.callback(client.close)
            client.request("GET", "/api/search?q=x")
            response = client.getresponse()
            assert (response.status, bool(response.read())) == (200, True)
            stack.enter_context(site.connect())
        assert site.get("/api/search?q=y").status == 200


@pytest.mark.parametrize(("seconds", "status"), [(0.001, 200), (100.0, 503)])
def test_the_time_that_recent_searches_took_decides(seconds: float, status: int) -> None:
    barrier, readings = Barrier(), count()
    clock = lambda: next(readings) * seconds  # noqa: E731  # every search takes so long
    queue = SearchQueue(barrier.engine, longest_wait=4.0, threads=1, clock=clock)
    pages = Pages(Path(app.__file__).parent / "templates", layout="page.html")
    with serving(build(SearchApi(queue).routes(), pages)) as site, ThreadPoolExecutor() as pool:
        barrier.open()
        assert site.get("/api/search?q=measured").status == 200
        barrier.close()
        barrier.wait_for(1)
        busy = pool.submit(site.get, "/api/search?q=busy")
        barrier.wait_for(1)
        second = pool.submit(site.get, "/api/search?q=second")
        if status == 503:
            assert second.result().status == 503
            assert (
                second.result().headers["retry-after"] == "11"
            )  # a tenth of 100 s, and nine tenths of the first guess
        barrier.open()
        assert busy.result().status == 200
        assert second.result().status == status


@pytest.mark.slow
def test_a_thousand_clients_at_once_are_all_answered() -> None:
    with searching(FakeEngine()) as site, ThreadPoolExecutor(200) as pool:
        answers = list(pool.map(lambda number: site.get("/api/search", q=number).status, range(1_000)))
    assert answers == 1_000 * [200]


async def _busy_then_free(queue: SearchQueue, barrier: Barrier) -> list[object]:
    """Fills all threads, cancels one of these works, asks for one more, and asks again when the threads are free."""
    work = [asyncio.create_task(queue.work_if_free(lambda: barrier.engine.search("x"))) for _ in range(THREADS)]
    await asyncio.to_thread(barrier.wait_for, THREADS)
    work[0].cancel()  # its thread goes on
    await asyncio.gather(work[0], return_exceptions=True)
    found: list[object] = []
    try:
        found.append(await queue.work_if_free(lambda: "early"))
    except TimeoutError as busy:
        found.append(str(busy))
    barrier.open()
    await asyncio.gather(*work, return_exceptions=True)
    for _ in range(5_000):
        await asyncio.sleep(0.001 * bool(queue.length))
    return [*found, await queue.work_if_free(lambda: "late")]


def test_work_that_a_page_can_do_without_runs_only_in_a_free_thread() -> None:
    barrier = Barrier()
    queue = SearchQueue(barrier.engine, 5.0)
    found = asyncio.run(_busy_then_free(queue, barrier))
    assert found == ["all threads are searching", "late"]
    assert queue.length == 0


async def _ended_without_a_value(queue: SearchQueue) -> list[str]:
    """What a request and a box get whose search ends with `StopIteration`."""
    never = asyncio.Event()

    async def receive() -> dict[str, str]:
        await never.wait()
        return {"type": "http.disconnect"}

    request = Request({"type": "http"}, receive)
    works = [queue.work(request, lambda: next(iter(()))), queue.work_if_free(lambda: next(iter(())))]
    return [repr(found) for found in await asyncio.gather(*map(_waited, works), return_exceptions=True)]


async def _waited(work: Coroutine[object, object, object]) -> object:
    return await asyncio.wait_for(work, 10)


def test_a_search_that_ends_without_a_value_fails_and_leaves_the_queue() -> None:
    queue = SearchQueue(FakeEngine(), 5.0)
    assert asyncio.run(_ended_without_a_value(queue)) == 2 * ["RuntimeError('a search has ended with StopIteration')"]
    assert queue.length == 0
