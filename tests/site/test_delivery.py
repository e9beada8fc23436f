"""A page travels compressed, is sent from memory the second time, and not at all when the browser has it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Semaphore

import pytest
from pyarrow import Codec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from periplus.config import Serving
from periplus.site.answer import StoredAnswer, entity_tag
from periplus.site.app import build
from periplus.site.content_encoding import chosen_encoding
from periplus.site.delivery import AnswerCache, Versioned
from periplus.site.pages import Pages
from periplus.web import app
from web.engines import HARBOUR, FakeEngine
from web.serving import Answer, Site, searching, serving

PATHS = ["/api/search?q=harbour", "/api/v1/search?q=harbour", "/search?q=harbour", "/"]


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=40 * [HARBOUR], fingerprint="generation 7")


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def decoded(answer: Answer, size: int) -> bytes:
    match answer.headers.get("content-encoding"):
        case "gzip":
            return gzip.decompress(answer.body)
        case "zstd":
            return bytes(Codec("zstd").decompress(answer.body, decompressed_size=size, asbytes=True))
        case _:
            return answer.body


# --- compression ---


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        ("", ""),
        ("identity", ""),
        ("gzip", "gzip"),
        ("gzip, deflate, br, zstd", "zstd"),
        ("gzip;q=1.0, zstd;q=0", "gzip"),
        ("GZIP", "gzip"),
        ("gzip;q=0, zstd; q=0.000", ""),
        ("gzipped, x-zstd", ""),
        ("br", ""),
        ("*", ""),
        (";;,,;q=,", ""),
    ],
)
def test_the_encoding_is_one_that_the_client_accepts(accept: str, chosen: str) -> None:
    assert chosen_encoding(accept.encode()) == chosen


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("path", ["/search?q=harbour", "/api/search?q=harbour", "/static/style.css"])
def test_a_page_is_the_same_in_every_encoding(site: Site, engine: FakeEngine, path: str, stored: bool) -> None:
    engine.fingerprint = "x" if stored else ""
    site.get(path)  # a box that reads its tables for the first time may come after its page
    plain = site.get(path)
    for encoding in ("gzip", "zstd"):
        answer = site.get(path, {"Accept-Encoding": encoding})
        assert answer.headers["content-encoding"] == encoding
        assert decoded(answer, len(plain.body)) == plain.body
        assert int(answer.headers["content-length"]) == len(answer.body) < len(plain.body) / 2
        assert answer.headers["etag"] != plain.headers["etag"]
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "accept-encoding"


def test_a_tiny_answer_is_not_compressed(site: Site) -> None:
    answer = site.get("/healthz", {"Accept-Encoding": "gzip, zstd"})
    assert "content-encoding" not in answer.headers
    assert answer.json["status"] == "ok"


def test_an_answer_in_parts_is_sent_as_it_comes() -> None:
    async def endless(request: Request) -> Response:
        return StreamingResponse(iter([b"first ", b"second"]), media_type="text/plain")

    pages = Pages(app.TEMPLATES, layout="page.html")
    with serving(build([Route("/parts", endless)], pages)) as site:
        assert site.get("/parts", {"Accept-Encoding": "gzip"}).body == b"first second"


# --- what the browser has is not sent again ---


@pytest.mark.parametrize("encoding", ["identity", "gzip", "zstd"])
@pytest.mark.parametrize("path", PATHS)
def test_a_page_that_the_browser_has_is_not_computed_again(
    site: Site, engine: FakeEngine, path: str, encoding: str
) -> None:
    first = site.get(path, {"Accept-Encoding": encoding})
    tag = first.headers["etag"]
    assert tag.startswith('"'), "a strong ETag"
    computed = len(engine.asked)
    for condition in (tag, f"W/{tag}", f'"other", {tag}'):
        again = site.get(path, {"Accept-Encoding": encoding, "If-None-Match": condition})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
        assert again.headers["cache-control"] == "private, no-cache"
    assert len(engine.asked) == computed
    assert site.get(path, {"Accept-Encoding": encoding, "If-None-Match": '"other"'}).status == 200


def test_another_process_knows_that_the_browser_has_the_page(engine: FakeEngine) -> None:
    with searching(engine) as one, searching(engine) as other:
        tag = one.get("/api/search?q=harbour").headers["etag"]
        assert other.get("/api/search?q=harbour", {"If-None-Match": tag}).status == 304
    assert len(engine.asked) == 1


def test_a_new_index_or_another_setting_or_query_changes_the_tag(engine: FakeEngine) -> None:
    def tag(query: str = "harbour", settings: Serving | None = None) -> str:
        with searching(engine, settings) as site:
            return site.get("/api/search", q=query).headers["etag"]

    tags = {tag(), tag("harbours"), tag(settings=Serving(public_address="https://a.example"))}
    engine.fingerprint = "generation 8"
    assert len(tags | {tag()}) == 4


def test_a_page_outside_the_index_has_a_tag_of_its_content(site: Site, engine: FakeEngine) -> None:
    first = site.get("/cached", url=HARBOUR.url)
    again = site.get("/cached", {"If-None-Match": first.headers["etag"]}, url=HARBOUR.url)
    assert (first.status, again.status, again.body) == (200, 304, b"")


@pytest.mark.parametrize("path", ["/healthz", "/api/search", "/search?q=x&page=two", "/none"])
def test_a_state_or_an_error_has_no_tag(site: Site, path: str) -> None:
    assert "etag" not in site.get(path).headers


# --- from memory ---


@pytest.mark.parametrize("path", PATHS[:3])
def test_a_repeated_search_is_answered_from_memory(site: Site, engine: FakeEngine, path: str) -> None:
    first, second = site.get(path), site.get(path)
    assert second.body == first.body
    assert second.headers["server-timing"] == 'cache;desc="memory"'
    different = {"server-timing", "date"}
    assert {name: value for name, value in first.headers.items() if name not in different} == {
        name: value for name, value in second.headers.items() if name not in different
    }
    assert sum("query" in one for one in engine.asked) == 1


def test_a_head_request_has_the_headers_of_the_page(site: Site) -> None:
    for _ in range(2):
        head, page = site.get("/search?q=harbour", method="HEAD"), site.get("/search?q=harbour")
        assert (head.status, head.body) == (200, b"")
        assert head.headers["content-length"] == str(len(page.body))
        assert head.headers["etag"] == page.headers["etag"]


def test_a_new_index_is_searched_at_once(site: Site, engine: FakeEngine) -> None:
    assert site.get("/api/search?q=harbour").json["total"] == 40
    engine.hits, engine.fingerprint = [HARBOUR], "generation 8"
    assert site.get("/api/search?q=harbour").json["total"] == 1


def test_an_answer_that_a_new_index_overtook_is_not_kept(site: Site, engine: FakeEngine) -> None:
    def switch() -> None:
        engine.fingerprint = "generation 8"

    engine.before = switch
    site.get("/api/search?q=harbour")
    engine.before, engine.fingerprint = lambda: None, "generation 7"
    site.get("/api/search?q=harbour")
    assert len(engine.asked) == 2


@contextmanager
def held(engine: FakeEngine) -> Iterator[tuple[Semaphore, Event]]:
    """An engine whose searches wait until the event; the semaphore counts those that have begun."""
    begun, release = Semaphore(0), Event()

    def hold() -> None:
        begun.release()
        assert release.wait(10)

    engine.before = hold
    try:
        yield begun, release
    finally:
        release.set()


def test_the_same_search_of_many_clients_is_computed_once(site: Site, engine: FakeEngine) -> None:
    with ThreadPoolExecutor(20) as pool, held(engine) as (begun, release):
        answers = [pool.submit(site.get, "/api/search?q=harbour") for _ in range(20)]
        assert begun.acquire(timeout=10)
        for _ in range(5):
            assert site.get("/robots.txt").status == 200  # the requests before this one have been read
        release.set()
        assert {answer.result().body for answer in answers} == {answers[0].result().body}
    assert len(engine.asked) == 1


def test_a_client_that_hangs_up_leaves_the_search_to_those_who_wait(site: Site, engine: FakeEngine) -> None:
    with ThreadPoolExecutor(3) as pool, held(engine) as (begun, release):
        with site.connect() as first:
            first.sendall(b"GET /api/search?q=harbour HTTP/1.1\r\nHost: a\r\n\r\n")
            assert begun.acquire(timeout=10)
            waiting = [pool.submit(site.get, "/api/search?q=harbour") for _ in range(3)]
            for _ in range(5):
                site.get("/robots.txt")
        release.set()
        assert [answer.result().status for answer in waiting] == 3 * [200]


def test_after_a_failure_the_next_client_computes_the_answer(site: Site, engine: FakeEngine) -> None:
    with ThreadPoolExecutor(3) as pool, held(engine) as (begun, release):
        hold = engine.before

        def fail_first() -> None:
            hold()
            if len(engine.asked) == 1:
                raise RuntimeError

        engine.before = fail_first
        answers = [pool.submit(site.get, "/api/search?q=harbour") for _ in range(3)]
        assert begun.acquire(timeout=10)
        release.set()
        statuses = sorted(answer.result().status for answer in answers)
    assert statuses[0] == 200
    assert statuses.count(500) <= 1


def test_the_page_of_a_reader_with_a_cookie_is_never_shown_to_others(site: Site, engine: FakeEngine) -> None:
    cookie = {"Cookie": "size=5"}
    tag = site.get("/search?q=harbour", cookie).headers["etag"]
    assert site.get("/search?q=harbour").headers["etag"] != tag
    site.get("/search?q=harbour", cookie)
    assert sum("query" in one for one in engine.asked) == 3


def test_a_mistake_or_a_failure_is_not_kept(site: Site, engine: FakeEngine) -> None:
    def fail() -> None:
        raise RuntimeError

    engine.before = fail
    assert site.get("/api/search?q=harbour").status == 500
    engine.before = lambda: None
    assert site.get("/api/search?q=harbour").status == 200


def test_a_cookie_is_not_kept_for_others() -> None:
    async def greet(request: Request) -> Response:
        return Response("Hello", headers={"set-cookie": "reader=1"})

    pages = Pages(app.TEMPLATES, layout="page.html")
    versioned = Versioned({"/"}, lambda: "1")
    with serving(build([Route("/", greet)], pages, versioned, 1 << 20)) as site:
        for _ in range(2):
            assert "server-timing" not in site.get("/").headers


def test_a_reader_with_another_variant_gets_another_stored_answer() -> None:
    """The owner of a collection sees forms and marks that no other reader sees."""
    answers = iter(range(10))

    async def greet(request: Request) -> Response:
        return Response(f"{request.headers.get('x-reader', '')} {next(answers)}")

    pages = Pages(app.TEMPLATES, layout="page.html")
    versioned = Versioned({"/"}, lambda: "1", lambda scope: str(dict(scope["headers"]).get(b"x-reader", b"")))
    with serving(build([Route("/", greet)], pages, versioned, 1 << 20)) as site:
        found = [site.get("/", {"X-Reader": name}) for name in ("owner", "other", "owner", "other")]
    assert [answer.text for answer in found] == ["owner 0", "other 1", "owner 0", "other 1"]
    assert len({answer.headers["etag"] for answer in found}) == 2


def test_without_memory_nothing_is_kept(engine: FakeEngine) -> None:
    with searching(engine, Serving(memory_cache_mb=0)) as site:
        for _ in range(2):
            site.get("/api/search?q=harbour")
    assert len(engine.asked) == 2


def test_the_answers_in_memory_stay_under_the_limit() -> None:
    cache = AnswerCache(100_000)
    answer = StoredAnswer(entity_tag("x"), [], 1_000 * b"x", 0)
    for number in range(200):
        cache.put(("1", "/search", b"%d" % number), answer)
        cache.get(("1", "/search", b"0"))  # in use, so it stays
    kept = [number for number in range(200) if cache.get(("1", "/search", b"%d" % number))]
    assert 40 < len(kept) <= 50
    assert kept[0] == 0
    assert kept[1:] == list(range(201 - len(kept), 200))
    cache.put(("1", "/search", b"large"), StoredAnswer(entity_tag("x"), [], 10_000 * b"x", 0))
    assert cache.get(("1", "/search", b"large")) is None
