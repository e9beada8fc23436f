"""A query with a bang goes to a site that the owner chose, and to no other."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlencode, urlsplit

import pytest

from periplus.config import Serving
from periplus.errors import ConfigError
from periplus.web import bangs as bangs_module
from periplus.web.bangs import Bangs, load_bangs
from web.attacks import bare
from web.engines import FakeEngine
from web.serving import Site, searching, serving
from web.test_hostile import NAUGHTY, PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TEXT = """
# the owner's own
w  https://en.wikipedia.org/w/index.php?search={query} Wikipedia, in English
!py https://docs.python.org/3/search.html#q={query}
gh https://github.example:8443/{query}/search?q={query}&t=1
"""


def loaded(folder: Path, text: str, name: str = "bangs.txt") -> Bangs:
    (folder / name).write_text(text, encoding="utf-8")
    return load_bangs(folder / name)


@pytest.fixture
def bangs(tmp_path: Path) -> Bangs:
    return loaded(tmp_path, TEXT)


@pytest.fixture
def site(bangs: Bangs) -> Iterator[Site]:
    with searching(FakeEngine(fingerprint="f"), bangs=bangs) as served:
        yield served


# --- queries ---


@pytest.mark.parametrize(
    ("query", "target"),
    [
        ("!w rust", "https://en.wikipedia.org/w/index.php?search=rust"),
        ("rust lang !W", "https://en.wikipedia.org/w/index.php?search=rust%20lang"),
        ("!py a&b=c#d/../?", "https://docs.python.org/3/search.html#q=a%26b%3Dc%23d%2F..%2F%3F"),
        ("!gh é %2e", "https://github.example:8443/%C3%A9%20%252e/search?q=%C3%A9%20%252e&t=1"),
        ("!w !py", "https://en.wikipedia.org/w/index.php?search=%21py"),
        ("!w", "https://en.wikipedia.org/"),
        ("  !gh  ", "https://github.example:8443/"),
        ("!w a\r\nSet-Cookie: x=1\x00b", "https://en.wikipedia.org/w/index.php?search=a%20Set-Cookie%3A%20x%3D1%20b"),
    ],
)
def test_a_bang_leads_to_the_search_of_its_site(site: Site, query: str, target: str) -> None:
    answer = site.get("/search", q=query)
    assert (answer.status, answer.headers["location"]) == (303, target)
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cache-control"] == "no-store"
    assert "etag" not in answer.headers


@pytest.mark.parametrize("query", ["!", "! w rust", "!important css", "w! rust", "a !w b", "!!w rust", "rust", "!ww"])
def test_other_queries_are_searched(site: Site, query: str) -> None:
    assert site.get("/search", q=query).status == 200


def test_an_unknown_bang_is_searched_with_a_hint(site: Site) -> None:
    for query in ("!important css", "css !important"):
        assert "There is no bang !important" in site.get("/search", q=query).page.select(".hint")[0].text
    for query in ("!", "!= a", "css"):
        assert not site.get("/search", q=query).page.select(".hint")


def test_no_unknown_bang_can_break_the_result_page(site: Site) -> None:
    for payload in PAYLOADS[::4]:
        answer = site.get(f"/search?{urlencode({'q': f'!{payload}'}, errors='replace')}")
        assert answer.status == 200
        assert not answer.page.select("main script, main img, main svg, main iframe, main style")


def test_a_site_without_bangs_searches_for_them() -> None:
    with searching(FakeEngine()) as site:
        answer = site.get("/search", q="!w rust")
        assert answer.status == 200
        assert not answer.page.select(".hint")
        assert "Search other sites" not in site.get("/help").text


def test_programs_and_feeds_are_not_sent_elsewhere(site: Site) -> None:
    assert {site.get(path, q="!w rust").status for path in ("/api/search", "/search.rss", "/search.csv")} == {200}


def test_a_redirect_is_never_stored_and_a_page_ends_with_its_file(tmp_path: Path, bangs: Bangs) -> None:
    engine, settings = FakeEngine(fingerprint="f"), Serving(boxes=[])  # a page that waits for a box is not stored
    with searching(engine, settings) as site:
        page = site.get("/search?q=!w+rust")
        assert page.status == 200
    known = {"If-None-Match": page.headers["etag"]}
    with searching(engine, settings, bangs=bangs) as site:
        answers = [site.get("/search?q=!w+rust", known) for _ in range(2)]
        assert [answer.status for answer in answers] == [303, 303]
        other = site.get("/search?q=rust")
    with searching(engine, settings, bangs=loaded(tmp_path, "w https://other.example/?q={query}")) as site:
        assert site.get("/search?q=!w+rust", known).headers["location"] == "https://other.example/?q=rust"
        assert site.get("/search?q=rust", {"If-None-Match": other.headers["etag"]}).status == 200


@pytest.mark.slow
def test_no_query_leaves_the_site_of_its_bang(site: Site) -> None:
    for payload in [*PAYLOADS, *NAUGHTY, "@evil.example", "//evil.example", "\\evil.example", ".evil.example", "\n//e"]:
        for name, host in (("w", "en.wikipedia.org"), ("gh", "github.example:8443")):
            answer = site.get(f"/search?{urlencode({'q': f'!{name} {payload}'}, errors='replace')}")
            assert answer.status == 303
            location = answer.headers["location"]
            assert urlsplit(location).netloc == host, payload
            assert all(" " < character < "\x7f" and character not in "<>\"'\\" for character in location)
    long = site.get("/search", q="!w " + 3_000 * "x").headers["location"]
    assert len(long) < 2_200


# --- files ---


def test_a_text_file_has_one_bang_a_line(bangs: Bangs) -> None:
    assert bangs.shown(2) == [
        ("w", "Wikipedia, in English", "en.wikipedia.org"),
        ("py", "docs.python.org", "docs.python.org"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "w",
        "w https://a.example/",
        "w ftp://a.example/{query}",
        "w javascript:alert({query})",
        "w //a.example/{query}",
        "w /search?q={query}",
        "w https://{query}.example/",
        "w https://a.example{query}",
        "w https://a.example:{query}/",
        "w {query}://a.example/{query}",
        "w https://{query}@a.example/{query}",
        "w https://user:word@a.example/{query}",
        "w https:///{query}",
        "w https://a.example\\{query}",
        "w https://a.example/\\{query}",
        "w https://a.example:99999/{query}",
        "w https://a.example;script-src/{query}",
        "w https://a.example,b/{query}",
        "w https://'self'/{query}",
        "w https://*/{query}",
        "w https://[::1/{query}",
        "w https://a.example/\x00{query}",
        "w https://a.example/<script>{query}",
        f"w https://a.example/{2_000 * 'a'}{{query}}",
        "<b> https://a.example/{query}",
        "a!b https://a.example/{query}",
        f"{41 * 'a'} https://a.example/{{query}}",
        "a\u202eb https://a.example/{query}",
    ],
)
def test_an_unsafe_bang_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    with pytest.raises(ConfigError, match=r"serve\.bangs: bangs\.txt cannot be used: line 3: "):
        loaded(tmp_path, f"ok https://a.example/{{query}}\n\n{line}\n")


def test_a_published_json_file_can_be_loaded(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    rows = [
        {"t": "w", "u": "https://en.wikipedia.org/wiki/Special:Search?search={{{s}}}", "s": "Wikipedia", "r": 7},
        {"t": "maps", "u": "/maps?q={{{s}}}", "s": "relative"},
        {"t": "x", "u": "https://{{{s}}}.example/", "s": "hostile"},
        {"t": 7, "u": [], "s": None},
        "nothing",
    ]
    with caplog.at_level(logging.WARNING, "periplus.web"):
        bangs = loaded(tmp_path, json.dumps(rows), "bang.json")
    assert bangs.target("!w a b") == "https://en.wikipedia.org/wiki/Special:Search?search=a%20b"
    assert list(bangs.by_name) == ["w"]
    assert "bang.json: left out 4 of 5 bangs; entry 2: /maps?q={query} is no http" in caplog.text


@pytest.mark.parametrize("text", ["[", '{"t": "w"}', "[" * 100_000, "[1, 2", '["\\ud800"]x'])
def test_broken_json_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigError, match=r"bang\.json cannot be used"):
        loaded(tmp_path, text, "bang.json")


def test_a_file_that_is_missing_large_or_no_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_bangs(tmp_path / "none.txt")
    (tmp_path / "b.txt").write_bytes(b"w \xff\xfe")
    with pytest.raises(ConfigError, match="no text in UTF-8"):
        load_bangs(tmp_path / "b.txt")
    monkeypatch.setattr(bangs_module, "MOST", 2)
    with pytest.raises(ConfigError, match="more than 2 bangs"):
        loaded(tmp_path, "".join(f"b{n} https://a.example/{{query}}\n" for n in range(3)))
    monkeypatch.setattr(bangs_module, "LARGEST_FILE", 10)
    with pytest.raises(ConfigError, match="it is larger than"):
        loaded(tmp_path, TEXT)


def test_a_file_of_bangs_may_be_empty(tmp_path: Path) -> None:
    assert loaded(tmp_path, "# nothing yet\n").target("!w x") == ""


# --- pages ---


def test_the_help_page_lists_the_first_fifty(tmp_path: Path) -> None:
    with searching(
        FakeEngine(), bangs=loaded(tmp_path, "".join(f"b{n} https://a{n}.example/{{query}}\n" for n in range(60)))
    ) as site:
        page = site.get("/help").page
        assert "!b0" in page.text
        assert "!b50" not in page.text
        assert "This site has 10 more." in page.text


@pytest.mark.slow
def test_no_name_or_title_can_break_the_help_page(tmp_path: Path) -> None:
    rows = [{"t": f"n{n}", "u": "https://a.example/?{{{s}}}", "s": text} for n, text in enumerate(PAYLOADS)]
    rows += [{"t": text[:40], "u": "https://a.example/{{{s}}}", "s": ""} for text in PAYLOADS]
    rows += [{"t": f"u{n}", "u": f"https://a.example/{text}{{{{{{s}}}}}}", "s": "x"} for n, text in enumerate(PAYLOADS)]
    bangs = loaded(tmp_path, json.dumps(rows), "bang.json")
    all_names = [bangs.by_name[name] for name in bangs.by_name]
    for start in range(0, len(all_names), 50):
        part = Bangs({bang.name: bang for bang in all_names[start : start + 50]})
        with searching(FakeEngine(), bangs=part) as site:
            answer = site.get("/help")
            assert not answer.page.select("main script, main img, main svg, main iframe, main style, main input")
            plain = answer.headers["content-security-policy"]
            assert plain.count(";") == 7


def test_the_policy_names_the_sites_of_the_forms(tmp_path: Path, site: Site) -> None:
    expected = "form-action 'self' https://docs.python.org https://en.wikipedia.org https://github.example:8443;"
    assert expected in site.get("/").headers["content-security-policy"]
    many = loaded(tmp_path, "".join(f"b{n} https://a{n}.example/{{query}}\n" for n in range(60)))
    with searching(FakeEngine(), bangs=many) as other:
        assert "form-action 'self' https:;" in other.get("/search?q=x").headers["content-security-policy"]
    with searching(FakeEngine()) as plain:
        assert "form-action 'self';" in plain.get("/").headers["content-security-policy"]


@pytest.mark.slow
def test_a_bang_typed_into_the_box_arrives_without_a_referrer(browser: Browser, tmp_path: Path) -> None:
    with serving(bare({"/find": "<h1>Elsewhere</h1>"})) as elsewhere:
        bangs = loaded(tmp_path, f"e {elsewhere.base}/find?q={{query}} Elsewhere")
        with searching(FakeEngine(), bangs=bangs) as site, browser.new_context() as context:
            page = context.new_page()
            for path in ("/", "/search?q=x"):
                page.goto(site.base + path)
                page.get_by_label("Search for").fill("!e old <harbour>")
                page.keyboard.press("Enter")
                page.get_by_role("heading", name="Elsewhere").wait_for()
                assert unquote(urlsplit(page.url).query) == "q=old <harbour>"
                assert page.evaluate("document.referrer") == ""
