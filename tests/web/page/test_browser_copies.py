"""In a real browser, a cached page runs nothing, sends nothing and loads nothing."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from periplus.model import CachedPage
from periplus.web.display import cached_link, page_link
from web.attacks import GROUPS, bare, together
from web.engines import CRAWLED, FakeEngine
from web.serving import Site, searching, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.slow


def frame_link(url: str) -> str:
    """The page with the frame."""
    return page_link("/cached/archived", url)


@dataclass
class Listener:
    """A port that must never receive a connection."""

    address: str
    heard: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def canary() -> Iterator[Listener]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(f"http://127.0.0.1:{server.getsockname()[1]}")

        def hear() -> None:
            while True:
                connection, _ = server.accept()
                with connection:
                    connection.settimeout(0.5)
                    try:
                        words = connection.recv(1_000)
                    except OSError:
                        words = b""
                    if words == b"stop":
                        return
                    listener.heard.append(words.decode("latin-1").partition("\r\n")[0] or "a connection")

        thread = threading.Thread(target=hear)
        thread.start()
        yield listener
        with socket.create_connection(server.getsockname()) as last:
            last.sendall(b"stop")
        thread.join()


OVERALL = "style='position:fixed;inset:0;display:block;width:100%;height:100%'"
ATTEMPTS = {
    "prefetch": "<link rel=prefetch href=CANARY/1>",
    "preload": "<link rel=preload as=image href=CANARY/1>",
    "module": "<link rel=modulepreload href=CANARY/1>",
    "style": "<link rel=stylesheet href=CANARY/1>",
    "css": "<style>@import 'CANARY/1'; body { background: url(CANARY/2) }</style>",
    "font": "<style>@font-face { font-family: x; src: url(CANARY/1) } p { font-family: x }</style><p>x",
    "picture": "<img src=CANARY/1 srcset='CANARY/2 2x'><picture><source srcset=CANARY/3><img></picture>",
    "drawing": "<svg><image href=CANARY/1 /><use href=CANARY/2#x /></svg>",
    "media": "<video autoplay src=CANARY/1 poster=CANARY/2></video><audio autoplay src=CANARY/3></audio>",
    "frame": "<iframe src=CANARY/1></iframe><object data=CANARY/2></object><embed src=CANARY/3>",
    "refresh": "<meta http-equiv=refresh content='0;url=CANARY/1'>",
    "script": "<script src=CANARY/1></script><script>fetch('CANARY/2')</script>",
    "handler": "<img src=data:, onerror=\"fetch('CANARY/1')\">",
    "base": "<base href=CANARY/><img src=1>",
    "link": f"<a href=CANARY/1 ping=CANARY/2 {OVERALL}>x</a>",
    "top": f"<a target=_top href=CANARY/1 {OVERALL}>x</a>",
    "window": f"<a target=_blank href=CANARY/1 {OVERALL}>x</a>",
    "download": f"<a download href=CANARY/1 {OVERALL}>x</a>",
    "scheme": f"<a href=\"javascript:fetch('CANARY/1')\" {OVERALL}>x</a>",
    "form": f"<form action=CANARY/1 method=post><button {OVERALL}>x</button></form>",
    "button": f"<form id=f></form><button form=f formaction=CANARY/1 {OVERALL}>x</button>",
}


def provoke(visit: BrowserContext, address: str) -> Page:
    """Look at a page with a frame, point at what is in it and click on it."""
    page = visit.new_page()
    page.goto(address)
    box = page.locator("iframe").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.click(box["x"] + 60, box["y"] + 60)
    return page


def linger(page: Page, canary: Listener | None = None) -> None:
    """Give a page 600 ms to do something; not longer than it takes the canary to hear of it."""
    for _ in range(6):
        if canary is None or not canary.heard:
            page.wait_for_timeout(100)


@pytest.fixture(scope="module")
def copies(canary: Listener) -> Iterator[Site]:
    """Where every attempt is a page of the archive."""
    bodies = {
        f"http://a.example/{name}": page.replace("CANARY", f"{canary.address}/{name}")
        for name, page in ATTEMPTS.items()
    }
    archive = {url: CachedPage(url, CRAWLED, "text/html", body.encode()) for url, body in bodies.items()}
    with searching(FakeEngine(archive=archive)) as site:
        yield site


@pytest.fixture(scope="module")
def elsewhere(canary: Listener) -> Iterator[Site]:
    """Where every attempt is in a frame without any guard."""
    inside = {f"/{name}": page.replace("CANARY", canary.address) for name, page in ATTEMPTS.items()}
    around = {f"/around/{name}": f"<iframe src=/{name} width=600 height=400></iframe>" for name in ATTEMPTS}
    with serving(bare(inside | around | {"/favicon.ico": ""})) as site:
        yield site


def test_a_cached_page_connects_to_no_host(visit: BrowserContext, copies: Site, canary: Listener) -> None:
    canary.heard.clear()
    pages = [provoke(visit, copies.base + frame_link(f"http://a.example/{name}")) for name in ATTEMPTS]
    for page in pages:
        page.bring_to_front()
    linger(pages[-1])
    assert canary.heard == [], "each request names its attempt"
    assert visit.pages == pages, "no attempt opened a window"


def test_the_text_of_a_cached_page_connects_to_no_host(visit: BrowserContext, copies: Site, canary: Listener) -> None:
    canary.heard.clear()
    asked: list[str] = []
    visit.on("request", lambda request: asked.append(request.url))
    page = visit.new_page()
    for name in ATTEMPTS:
        page.goto(copies.base + cached_link(f"http://a.example/{name}"))
        page.mouse.click(300, 300)
        assert not page.locator(
            ".reading :is(script, style, img, svg, video, iframe, form, link, meta, a[href^='http://127'])"
        ).count()
    linger(page)
    assert canary.heard == []
    assert [url for url in asked if not url.startswith(copies.base)] == []


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_same_page_elsewhere_would(visit: BrowserContext, elsewhere: Site, canary: Listener, name: str) -> None:
    canary.heard.clear()
    linger(provoke(visit, f"{elsewhere.base}/around/{name}"), canary)
    assert canary.heard != []


@pytest.mark.parametrize(
    "element", ["<a href='/search?q=forged' STYLE>x</a>", "<form action=/search><button STYLE>x</button></form>"]
)
def test_a_copy_cannot_make_its_reader_search(visit: BrowserContext, element: str) -> None:
    url = "http://a.example/"
    body = element.replace("STYLE", OVERALL).encode()
    engine = FakeEngine(archive={url: CachedPage(url, CRAWLED, "text/html", body)})
    with searching(engine) as site:
        linger(provoke(visit, site.base + frame_link(url)))
    assert engine.asked == []


def test_no_payload_in_a_copy_runs(browser: Browser) -> None:
    copies = [
        CachedPage(f"http://a.example/{number}", CRAWLED, "text/html", together(group).encode())
        for number, group in enumerate(GROUPS)
    ]
    heard: list[str] = []
    with searching(FakeEngine(archive={copy.url: copy for copy in copies})) as site, browser.new_context() as context:
        page = context.new_page()
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        for copy in copies:
            page.goto(site.base + frame_link(copy.url))
            assert page.frames[1].url.startswith(f"{site.base}/cached/raw")
    assert heard == []


def test_a_copy_opened_alone_is_put_back_into_its_frame(visit: BrowserContext) -> None:
    url = "http://a.example/"
    with searching(FakeEngine(archive={url: CachedPage(url, CRAWLED, "text/html", b"<p>x")})) as site:
        page = visit.new_page()
        page.goto(f"{site.base}/cached/raw?url={url}")
        assert page.locator("iframe").count() == 1
