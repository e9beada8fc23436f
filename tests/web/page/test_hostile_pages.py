"""Hostile text and hostile parameters stay harmless on the pages about a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from urllib.parse import quote

import pytest
import turbohtml

from periplus.inspector.page_library import PageLibrary
from periplus.inspector.url_report import read_url_report
from search.library import Doc, index, opened, settings, shelve
from web.attacks import GROUPS, PoisonedLibrary, poisoned_paths, poisoned_report, poisoned_url
from web.engines import FakeEngine
from web.serving import Site, searching
from web.test_hostile import NAUGHTY, PAYLOADS, assert_harmless


@pytest.fixture(scope="module")
def poisoned() -> Iterator[Site]:
    library = PoisonedLibrary()
    with searching(library.engine, library=library, report=poisoned_report) as served:
        yield served


def test_no_payload_in_a_page_becomes_markup(poisoned: Site) -> None:
    for path in poisoned_paths():
        answer = poisoned.get(path)
        assert answer.status == 200, path
        assert_harmless(answer.page)


def test_every_payload_is_shown_as_text(poisoned: Site) -> None:
    for number, group in enumerate(GROUPS):
        shown = " ".join(poisoned.get("/cached", url=poisoned_url(number)).page.select("article")[0].text.split())
        for payload in group:
            assert " ".join(payload.split()) in shown


@pytest.mark.slow
def test_no_payload_in_a_parameter_becomes_markup(poisoned: Site) -> None:
    for payload in PAYLOADS:
        for path in ("/cached", "/cached/changes", "/page", "/panel", "/panel/site"):
            answer = poisoned.get(path, url=poisoned_url(0), q=payload, at=payload, to=payload, host=payload[:250])
            assert answer.status in {200, 400, 404}
            assert_harmless(answer.page)
        assert_harmless(poisoned.get("/cached", url=poisoned_url(0), q=payload).page)


@pytest.mark.slow
def test_every_naughty_string_is_a_query_of_a_cached_page(poisoned: Site) -> None:
    for text in NAUGHTY:
        page = poisoned.get("/cached", url=poisoned_url(0), q=text).page
        assert page.select("input[name=q]")[0].attrs["value"] == text.strip()
        assert_harmless(page)


# --- names of files, and what looks like them ---

SECRET = "the secret of this machine"  # in a file next to the collection
PASSWD = "root:x:0"
NAMES = [
    *("../" * depth + "secret.txt" for depth in range(1, 9)),
    *("..%2f" * depth + "secret.txt" for depth in range(1, 5)),
    *("..\\" * depth + "secret.txt" for depth in range(1, 4)),
    *("../" * depth + "etc/passwd" for depth in (1, 4, 8, 16)),
    "....//....//etc/passwd",
    "..;/..;/etc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "%252e%252e%252fetc%252fpasswd",
    "..%c0%af..%c0%afetc/passwd",
    "/etc/passwd",
    "//etc/passwd",
    "\\\\server\\share\\secret.txt",
    "C:\\Windows\\win.ini",
    "file:///etc/passwd",
    "file://localhost/etc/passwd",
    "FILE:/etc/passwd",
    "http://a.test/../../../../etc/passwd",
    "http://a.test/%2e%2e/%2e%2e/etc/passwd",
    "http://a.test/\0",
    "\0",
    "\0" * 100,
    "secret.txt\0.html",
    "http://a.test/\r\nx: y",
    "\n",
    "~/secret.txt",
    "$HOME/secret.txt",
    "crawl.db",
    "collection.json",
    "archive/w00-000001.warc.gz",
    "w00-000001.warc.gz",
    "index/CURRENT",
    ".",
    "..",
    "/",
    "//",
    "CON",
    "nul",
    "x" * 255,
    "x" * 4_096,
    "x" * 4_097,
    "x" * 20_000,
    "/" * 4_000,
    "é" * 4_000,
    "\ud800",
    "\u202e\u2066http://a.test/",
    "'; DROP TABLE urls; --",
    '" OR 1=1',
    "{{7*7}}",
    "%s%s%s%n",
    "${jndi:ldap://127.0.0.1/x}",
]
ROUTES = [
    "/cached?url={}",
    "/cached?url={}&at=20260302050500",
    "/cached?url=http://a.test/&at={}",
    "/cached/archived?url={}",
    "/cached/raw?url={}&at=20260302050500",
    "/cached/versions?url={}",
    "/cached/changes?url={}",
    "/cached/changes?url=http://a.test/&from={}&to={}",
    "/page?url={}",
    "/panel?url={}",
    "/panel/site?host={}",
    "/inspect?url={}",
    "/api/inspect?url={}",
    "/static/{}",
    "/cached/{}",
    "/inspect/{}",
]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The site over a real collection, with a secret in the folder around it."""
    folder: Path = tmp_path_factory.mktemp("machine")
    (folder / "secret.txt").write_text(SECRET)
    collection = shelve(folder / "home", [Doc("http://a.test/", "Reef", "A reef.", body=b"<p>A reef.")])
    (folder / "home" / "secret.txt").write_text(SECRET)
    index(collection)
    with opened(collection) as engine:
        library = PageLibrary(collection, settings(), lambda: nullcontext(engine))
        with searching(engine, library=library, report=partial(read_url_report, collection, settings())) as served:
            yield served


def test_the_real_site_shows_its_page(real: Site) -> None:
    assert "A reef." in real.get("/cached?url=http://a.test/").text


@pytest.mark.parametrize("route", ROUTES)
def test_no_name_reads_a_file_or_breaks_the_site(real: Site, route: str) -> None:
    assert len(NAMES) >= 60
    for name in NAMES:
        escaped = quote(name, safe="", errors="surrogatepass")
        answer = real.get(route.replace("{}", escaped))
        assert answer.status in {200, 303, 400, 404, 414}, name
        assert SECRET.encode() not in answer.body
        assert PASSWD.encode() not in answer.body
        if answer.headers["content-type"].startswith("text/html"):
            assert_harmless(turbohtml.parse(answer.text))


def test_an_unescaped_path_reads_no_file(real: Site) -> None:
    for name in ("../secret.txt", "/../../etc/passwd", "..\\secret.txt", "%2e%2e/secret.txt"):
        assert real.get(f"/static/{name}").status == 404


def test_a_site_without_reports_has_no_report() -> None:
    with searching(FakeEngine()) as public:
        for name in NAMES:
            assert public.get("/inspect", url=name.encode("utf-8", "replace").decode()).status == 404
