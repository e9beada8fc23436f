"""In a real browser no crawled text runs, sends or loads anything; and where it does, the canary lets us know."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from periplus.model import CachedPage
from periplus.site.app import build
from periplus.site.pages import Pages
from periplus.web import app as web
from periplus.web.shown import cached_link
from web.engines import CRAWLED, FakeEngine
from web.serving import Site, searching, serving
from web.test_hostile import AT_ONCE, PAYLOADS, poisoned

pytestmark = pytest.mark.slow

CANARY = """
window.ran = [];
for (const name of ["alert", "prompt", "confirm", "print", "open"]) {
  window[name] = (text) => { window.ran.push(`${name}(${text})`); };
}
document.addEventListener("securitypolicyviolation", (event) => window.ran.push(event.violatedDirective));
"""
GROUPS = [PAYLOADS[start : start + 8] for start in range(0, len(PAYLOADS), 8)]
_CLOSING = "-->\"'></script></style></title></textarea></xmp></svg></noscript></iframe>"


def together(payloads: list[str]) -> str:
    """All of them in one page, none inside another."""
    return "<!doctype html>" + "".join(f"<div>{payload}{_CLOSING}</div>" for payload in payloads)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        context.add_init_script(CANARY)
        watched = context.new_page()
        watched.on("dialog", lambda dialog: dialog.dismiss())
        yield watched


def ran(page: Page) -> list[str]:
    """What has run, or has tried to and was stopped by the policy."""
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    found: list[str] = page.evaluate("new Promise(done => setTimeout(() => done(window.ran), 30))")
    return found


def bare(content: dict[str, str]) -> ASGIApp:
    """A site that shows what it is given as it is, with no headers at all."""

    async def app(scope: dict[str, str], receive: object, send: object) -> None:
        await Response(content[scope["path"]], media_type="text/html")(scope, receive, send)  # type: ignore[arg-type]

    return app  # type: ignore[return-value]


# --- our own pages ---


def test_the_canary_sings(page: Page) -> None:
    with serving(bare({"/": "<img src=x: onerror=alert(1)><script>prompt(2)</script>"})) as site:
        page.goto(site.base)
        assert sorted(ran(page)) == ["alert(1)", "prompt(2)"]


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), AT_ONCE))
def test_no_payload_in_a_result_runs(page: Page, start: int) -> None:
    engine = FakeEngine(hits=[poisoned(payload) for payload in PAYLOADS[start : start + AT_ONCE]])
    with searching(engine) as site:
        page.goto(f"{site.base}/search?q=x&size={AT_ONCE}")
        assert page.locator("li.hit").count() == len(engine.hits)
        assert ran(page) == []


def test_no_payload_in_a_query_runs(page: Page) -> None:
    with searching(FakeEngine(hits=[])) as site:
        for group in GROUPS:
            page.goto(f"{site.base}/search?{urlencode({'q': ' '.join(group)})}")
            assert page.get_by_label("Search for").input_value() == " ".join(group)
            assert ran(page) == []


def test_even_without_escaping_the_policy_would_stop_them(page: Page) -> None:
    pages = Pages(Path(web.__file__).parent / "templates", layout="page.html")

    async def unescaped(request: Request) -> Response:
        return Response(together(GROUPS[int(request.query_params["group"])]), media_type="text/html")

    stopped = 0
    with serving(build([Route("/", unescaped)], pages)) as site:
        for number in range(len(GROUPS)):
            page.goto(f"{site.base}/?group={number}")
            deeds = ran(page)
            assert [deed for deed in deeds if "(" in deed] == []
            stopped += len(deeds)
    assert stopped > len(PAYLOADS) / 2, "they were tried"


# --- copies from the archive ---


@dataclass
class Listener:
    """A port of this machine that nobody should ever connect to."""

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


def provoke(visit: BrowserContext, address: str, canary: Listener | None = None) -> None:
    """Look at a page with a frame, point at what is in it, click on it, and wait; not longer than for the canary."""
    page = visit.new_page()
    page.goto(address)
    box = page.locator("iframe").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.click(box["x"] + 60, box["y"] + 60)
    for _ in range(6):
        if canary is None or not canary.heard:
            page.wait_for_timeout(100)


@pytest.fixture(scope="module")
def copies(canary: Listener) -> Iterator[Site]:
    """Where every attempt is a page of the archive."""
    bodies = {f"http://a.example/{name}": page.replace("CANARY", canary.address) for name, page in ATTEMPTS.items()}
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


@pytest.mark.parametrize("name", ATTEMPTS)
def test_a_copy_reaches_nobody(visit: BrowserContext, copies: Site, canary: Listener, name: str) -> None:
    canary.heard.clear()
    provoke(visit, copies.base + cached_link(f"http://a.example/{name}"))
    assert canary.heard == []
    assert len(visit.pages) == 1


@pytest.mark.parametrize("name", ATTEMPTS)
def test_the_same_page_elsewhere_would(visit: BrowserContext, elsewhere: Site, canary: Listener, name: str) -> None:
    canary.heard.clear()
    provoke(visit, f"{elsewhere.base}/around/{name}", canary)
    assert canary.heard != []


@pytest.mark.parametrize(
    "element", ["<a href='/search?q=forged' STYLE>x</a>", "<form action=/search><button STYLE>x</button></form>"]
)
def test_a_copy_cannot_make_its_reader_search(visit: BrowserContext, element: str) -> None:
    url = "http://a.example/"
    body = element.replace("STYLE", OVERALL).encode()
    engine = FakeEngine(archive={url: CachedPage(url, CRAWLED, "text/html", body)})
    with searching(engine) as site:
        provoke(visit, site.base + cached_link(url))
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
            page.goto(site.base + cached_link(copy.url))
            assert page.frames[1].url.startswith(f"{site.base}/cached/raw")
    assert heard == []


def test_a_copy_opened_alone_is_put_back_into_its_frame(visit: BrowserContext) -> None:
    url = "http://a.example/"
    with searching(FakeEngine(archive={url: CachedPage(url, CRAWLED, "text/html", b"<p>x")})) as site:
        page = visit.new_page()
        page.goto(f"{site.base}/cached/raw?url={url}")
        assert page.locator("iframe").count() == 1


def test_no_other_site_can_frame_ours(visit: BrowserContext) -> None:
    with searching(FakeEngine()) as site, serving(bare({"/": f"<iframe src='{site.base}/'></iframe>"})) as evil:
        page = visit.new_page()
        page.goto(evil.base)
        page.wait_for_timeout(300)
        assert "Periplus" not in page.frames[1].content()
