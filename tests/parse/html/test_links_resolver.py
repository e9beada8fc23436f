"""Caching resolved links changes no result."""

from __future__ import annotations

import json

import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from parse.documents import URL, answer, parsed, parser
from periplus.parse.html.links import LinkCollector, LinkResolver
from periplus.url import Canonicalizer
from shared_data import shared


def link(href: str) -> str:
    return f'<a href="{href}">link</a>'


def test_cached_links_of_one_page_do_not_change_another() -> None:
    body = "".join(map(link, ["x", "../x", "?a", "/y?b", "http:?c", "https:?d", "//h.example", " ?e", "\t?f", "./?g"]))
    busy = parser()
    addresses = [
        f"{scheme}://{host}.example/{path}"
        for path in ("", "a", "a/", "a/b", "a/b?q=/x/", "a/b/c")
        for host in ("one", "two")
        for scheme in ("http", "https")
    ]
    for url in addresses * 2:
        assert busy.parse(answer(body, url=url)) == parsed(body, url=url)


@given(
    st.sampled_from(["http://a.test/", "http://a.test/x/y/", "https://a.test:8080/q.r/", "http://[::1]/z/"]),
    st.text("ab..//~%;?:C0-_=&", min_size=1, max_size=14),
)
def test_plain_links_are_joined_as_the_standard_says(folder: str, href: str) -> None:
    canonicalizer = Canonicalizer(["utm_*"], ["a"])
    page = f"{folder}page.html"
    assert LinkResolver(canonicalizer).open(page)[href] == (canonicalizer.join(page, href) or "")


def test_targets_are_shared_between_the_pages_of_a_folder() -> None:
    busy = parser()
    pages = [busy.parse(answer(link("x"), url=f"https://example.org/docs/{name}")) for name in "ab"]
    assert pages[0].links[0].target is pages[1].links[0].target


def test_targets_are_shared_between_the_folders_of_a_site() -> None:
    busy = parser()
    pages = [busy.parse(answer(link("/x"), url=f"https://example.org/{name}/page")) for name in "ab"]
    assert pages[0].links[0].target is pages[1].links[0].target


def test_the_cache_is_cleared_when_it_is_full() -> None:
    folders = LinkResolver(Canonicalizer(), max_cached=100)
    for number in range(1_000):
        folder = folders.open(f"https://example.org/{number % 50}/{number}")
        assert folder[f"page-{number}"] == f"https://example.org/{number % 50}/page-{number}"
        assert sum(map(len, folders._folders.values())) <= 102


def test_long_links_are_not_cached() -> None:
    folder = LinkResolver(Canonicalizer()).open(URL)
    assert folder["x" * 1_000].endswith("x" * 1_000)
    assert not folder


def resolved(page: str, href: str) -> str | None:
    """The target of a link that is cached from another page of the same folder."""
    folders = LinkResolver(Canonicalizer())
    element = turbohtml.Element("a", {"href": href})
    for url in (page.partition("?")[0] + "-neighbour", page):
        document = turbohtml.parse("")
        document.select("body")[0].append(element)
        collector = LinkCollector(folders.open(url), 10)
        collector.add_anchors(document)
    links = collector.links(nofollow=False)
    return links[0].target if links else None


@given(
    st.sampled_from(
        ["http://h.example/a/b", "https://h.example/a/b?q=/c/d", "http://h.example/", "http://h.example/a/"]
    ),
    st.lists(st.sampled_from([*"?/\\:#.;@ \t\n%ab", "..", "http", "https", "//", "javascript", "é"]), max_size=8).map(
        "".join
    ),
)
def test_cached_links_equal_joined_links(page: str, href: str) -> None:
    stays = href.partition("#")[0].strip("".join(map(chr, range(33)))) == ""
    assert resolved(page, href) == (None if stays else Canonicalizer().join(page, href))


def test_every_link_of_the_url_standard_is_resolved_as_it_says() -> None:
    cases = [case for case in json.loads(shared("urls/urltestdata.json").read_text("utf-8")) if isinstance(case, dict)]
    pages = {case["base"] for case in cases if (case["base"] or "").startswith("http")}
    assert len(pages) >= 5
    for page in sorted(filter(None, map(Canonicalizer().canonical, pages))):
        for href in (case["input"] for case in cases if case["input"].partition("#")[0].strip("\0\t\n\r\x1f ")):
            assert resolved(page, href) == Canonicalizer().join(page, href), (page, href)
