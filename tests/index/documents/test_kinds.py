"""The kind of a page is known from its URL, its title and the shape of its text."""

from __future__ import annotations

import pytest

from periplus.index.documents.kinds import Kind, page_kind

PROSE = "The harbour lies behind a long mole, which shelters it from the waves of the open sea.\n" * 5
LIST = "anchor\nbuoy\ncapstan\ndavit\nensign\nfender\n" * 20
CODE = "import os\n\ndef sail(ship):\n    # cast off\n    return ship.go();\n" * 10

PAGES = [
    # -- home
    ("/", "Harbours", PROSE, Kind.HOME),
    ("/index.html", "Harbours", LIST, Kind.HOME),
    ("/en/index.html", "Harbours", PROSE, Kind.ARTICLE),
    ("/?page=2", "Harbours", PROSE, Kind.ARTICLE),
    # -- source listings
    ("/en/stable/_modules/twisted/web/client.html", "twisted.web.client", CODE, Kind.SOURCE),
    ("/en/stable/_sources/tutorial.rst.txt", "", PROSE, Kind.SOURCE),
    ("/stable/src/core/num/mod.rs.html", "mod.rs - source", CODE, Kind.SOURCE),
    ("/base-4.15.1.0/src/Data-List.html", "Data.List", CODE, Kind.SOURCE),
    ("/transformers/docs/Control-Monad.html", "lib/Control/Monad.hs", CODE, Kind.SOURCE),
    ("/doc/sail_8c_source.html", "sail.c", CODE, Kind.SOURCE),
    ("/lxr/kernel/fork.c.html", "fork", CODE, Kind.SOURCE),
    ("/files/fork.c", "", CODE, Kind.SOURCE),
    ("/doc/page.html", "Source code for twisted.web", CODE, Kind.SOURCE),
    ("/src/README.html", "About the sources", PROSE, Kind.ARTICLE),
    ("/doc/install_from_source.html", "Installing from source", PROSE, Kind.ARTICLE),
    ("/manual/en/pr01s04.html", "Building from source code", PROSE, Kind.ARTICLE),
    # -- generated indexes
    ("/en/stable/genindex.html", "Index", LIST, Kind.INDEX),
    ("/doc/genindex-A.html", "Index", PROSE, Kind.INDEX),
    ("/stable/py-modindex.html", "Python Module Index", LIST, Kind.INDEX),
    ("/stable/_modules/index.html", "Overview: module code", LIST, Kind.INDEX),
    ("/docs/api/allpackages-index.html", "All Packages", LIST, Kind.INDEX),
    ("/libraries/text-1.2/doc-index.html", "text-1.2: Unicode text (Index)", LIST, Kind.INDEX),
    ("/stable/std/all.html", "List of all items in this crate", LIST, Kind.INDEX),
    ("/en/stable/search.html", "Search", "Searching for multiple words only shows matches.", Kind.INDEX),
    ("/ja/gimp-help-index.html", "索引", LIST, Kind.INDEX),
    ("/tutorial/search.html", "Various search conditions", PROSE, Kind.ARTICLE),
    ("/text/swriter/01/04120212.html", "Index", PROSE, Kind.ARTICLE),
    # -- changelogs
    ("/en/stable/whatsnew/2/2.13/full.html", "Full changelog", PROSE, Kind.CHANGES),
    ("/stable/release/version0.13.html", "Release 0.13.0", PROSE, Kind.CHANGES),
    ("/docs/notes.html", "Release Notes", PROSE, Kind.CHANGES),
    ("/docs/en/html/news/4.x.html", "News - 4.x", PROSE, Kind.CHANGES),
    ("/docs/manual/release.html", "release", PROSE, Kind.ARTICLE),
    ("/policy/release-process.html", "Release process", PROSE, Kind.ARTICLE),
    # -- API references
    ("/javase/17/docs/api/java.base/java/util/List.html", "List", PROSE, Kind.API),
    ("/stable/std/io/struct.Stderr.html", "Stderr in std::io", PROSE, Kind.API),
    ("/qt-5/qtcore/qmutex.html", "QMutex Class", PROSE, Kind.API),
    ("/doc/manpages/fstab.html", "fstab", PROSE, Kind.API),
    ("/linux/open.html", "open(2)", PROSE, Kind.API),
    ("/libraries/base/Data-Function.html", "Data.Function", PROSE, Kind.API),
    # -- by the text alone
    ("/guide/harbours.html", "Harbours", PROSE, Kind.ARTICLE),
    ("/guide/hafen.html", "港口", "港口位于一道长长的防波堤后面。防波堤保护它免受公海海浪的侵袭。\n" * 5, Kind.ARTICLE),
    ("/guide/list.html", "Words", LIST, Kind.OTHER),
    ("/guide/empty.html", "", "", Kind.OTHER),
]


@pytest.mark.parametrize(("path", "title", "text", "kind"), PAGES)
def test_the_kind_of_a_page(path: str, title: str, text: str, kind: Kind) -> None:
    assert page_kind(f"http://docs.test{path}", title, "text/html", text) is kind


@pytest.mark.parametrize(
    ("mime", "kind"),
    [
        ("application/pdf", Kind.PDF),
        ("application/rss+xml", Kind.FEED),
        ("application/atom+xml", Kind.FEED),
        ("text/plain", Kind.TEXT),
    ],
)
def test_the_kind_of_other_documents(mime: str, kind: Kind) -> None:
    assert page_kind("http://docs.test/paper", "A paper", mime, PROSE) is kind


def test_a_host_without_a_path_is_a_home_page() -> None:
    assert page_kind("http://docs.test", "Docs", "text/html", LIST) is Kind.HOME
