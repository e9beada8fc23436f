"""Text, versions and facts of an indexed page, for its page on the search site."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from crawl.crawling import typed
from periplus.inspector.page_library import PageLibrary
from periplus.inspector.page_records import PageText
from periplus.model import Link
from periplus.parse.html.reader_view import LARGEST_HTML, BlockKind
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection
from search.library import Doc, give_ranks, index, opened, settings, shelve

SITE = "http://harbours.test"
OSTIA = f"{SITE}/ostia"
PROSE = "The harbour of Ostia was dug under Claudius, and Trajan added a hexagonal basin to it some decades later."
OLD = f"<title>Ostia</title><main><h1>Ostia</h1><p>{PROSE}</p><p>It silted up in two hundred years.</p></main>"
NEW = f"<title>Ostia</title><main><h1>Ostia</h1><p>{PROSE}</p><p>It silted up in three hundred years.</p></main>"
DAY = 86_400.0
FIRST, SECOND = 1_700_000_000.0, 1_700_000_000.0 + DAY
OTHERS = [
    Doc("http://harbours.test/", "Harbours", "All harbours of the coast. The list is long.", at=FIRST),
    Doc("http://harbours.test/noindex", "Secret", "secret harbour", noindex=True, body=b"<p>secret"),
    Doc(
        "http://harbours.test/pdf",
        "Book",
        "Chapter 1\nThe harbour book.",
        headings=("Chapter 1",),
        mime="application/pdf",
    ),
    Doc(
        "http://harbours.test/plain", "Notes", "depth 3", body=b"depth:\n    3 metres\n\n\nwidth: 9", mime="text/plain"
    ),
    Doc("http://other.test/", "Other", "A site about ropes. It is short."),
]


def shelved(home: Path) -> Collection:
    """A page with two versions, and other pages."""
    shelve(home, [Doc(OSTIA, "Ostia", PROSE, at=FIRST, body=OLD.encode())])
    words = ("A harbour of Rome. It silted up.", "http://harbours.test/")
    link = Link(words[1], "Home", False)
    newest = Doc(OSTIA, "Ostia", words[0], headings=("Basin",), at=SECOND, body=NEW.encode(), links=(link,))
    collection = shelve(home, [newest, *OTHERS])
    give_ranks(collection, {OSTIA: 5.0, OTHERS[0].url: 9.0, OTHERS[4].url: 1.0}, {OSTIA: ["The Ostia page"]})
    index(collection)
    return collection


@contextmanager
def opened_library(collection: Collection) -> Iterator[PageLibrary]:
    with opened(collection) as engine:
        yield PageLibrary(collection, settings(), lambda: nullcontext(engine))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageLibrary]:
    with opened_library(shelved(tmp_path_factory.mktemp("home"))) as found:
        yield found


def lines(page: PageText | None) -> list[str]:
    assert page is not None
    return [block.text for block in page.view.blocks]


def test_the_text_of_a_page_is_its_main_text_with_marked_words(library: PageLibrary) -> None:
    page = library.text(OSTIA, "harbours silted")
    assert lines(page) == ["Ostia", PROSE, "It silted up in three hundred years."]
    assert page is not None
    marked = [
        [block.text[start:end] for start, end in ranges]
        for block, ranges in zip(page.view.blocks, page.marks, strict=True)
    ]
    assert marked == [[], ["harbour"], ["silted"]]
    assert (page.fetched_at, page.view.title) == (SECOND, "Ostia")


def test_without_a_query_nothing_is_marked(library: PageLibrary) -> None:
    for query in ("", "  ", "-", "site:"):
        page = library.text(OSTIA, query)
        assert page is not None
        assert not any(page.marks)


def test_an_earlier_version_is_shown_as_it_was(library: PageLibrary) -> None:
    assert [version.at for version in library.versions(OSTIA)] == [FIRST, SECOND]
    assert lines(library.text(OSTIA, at=FIRST))[-1] == "It silted up in two hundred years."
    assert lines(library.text(OSTIA, at=SECOND - 1))[-1] == "It silted up in two hundred years."
    assert lines(library.text(OSTIA, at=SECOND))[-1] == "It silted up in three hundred years."
    assert lines(library.text(OSTIA, at=0.0))[-1] == "It silted up in two hundred years."
    copy = library.version(OSTIA, FIRST)
    assert copy is not None
    assert (copy.body, copy.fetched_at, copy.mime, copy.charset) == (OLD.encode(), FIRST, "text/html", "utf-8")


@pytest.mark.parametrize("url", [f"{SITE}/noindex", f"{SITE}/nowhere", "", "../../etc/passwd"])
def test_a_page_that_is_not_in_the_index_is_not_shown(library: PageLibrary, url: str) -> None:
    assert library.text(url) is None
    assert library.text(url, at=SECOND) is None
    assert library.version(url, SECOND) is None
    assert library.versions(url) == ()
    assert library.facts(url) is None


def test_a_pdf_is_shown_by_its_stored_text(library: PageLibrary) -> None:
    page = library.text("http://harbours.test/pdf", "book")
    assert page is not None
    assert [(block.kind, block.text) for block in page.view.blocks] == [
        (BlockKind.HEADING, "Chapter 1"),
        (BlockKind.PARAGRAPH, "The harbour book."),
    ]


def test_plain_text_keeps_its_layout(library: PageLibrary) -> None:
    assert lines(library.text("http://harbours.test/plain")) == ["depth:\n    3 metres", "width: 9"]


def test_a_large_page_is_shown_by_its_stored_text(tmp_path: Path) -> None:
    body = b"<p>from the archive</p>" + b"<!-- -->" * (LARGEST_HTML // 8)
    collection = shelve(tmp_path, [Doc(OSTIA, "Ostia", "from the index", body=body)])
    index(collection)
    with opened_library(collection) as large:
        assert lines(large.text(OSTIA)) == ["from the index"]


@pytest.mark.slow
def test_the_sandbox_reads_earlier_versions_of_pdfs_and_large_pages(tmp_path: Path) -> None:
    large = b"<p>from the archive</p>" + b"<!-- -->" * (LARGEST_HTML // 8)
    broken = Doc(f"{SITE}/pdf", "Book", "text", at=FIRST, body=b"%PDF-1.7 broken", mime="application/pdf")
    shelve(tmp_path, [Doc(OSTIA, "Ostia", "old", at=FIRST, body=large), broken])
    collection = shelve(tmp_path, [Doc(OSTIA, "Ostia", "new", at=SECOND, body=b"<p>new"), replace(broken, at=SECOND)])
    index(collection)
    with opened_library(collection) as found:
        assert lines(found.text(OSTIA, at=FIRST)) == ["from the archive"]
        assert lines(found.text(broken.url, at=FIRST)) == []


def test_the_facts_of_a_page(library: PageLibrary) -> None:
    facts = library.facts(OSTIA)
    assert facts is not None
    assert (facts.url, facts.host, facts.title, facts.language) == (OSTIA, "harbours.test", "Ostia", "en")
    assert (facts.opening, facts.headings) == ("A harbour of Rome. It silted up.", ("Basin",))
    assert (facts.link_count, facts.anchors, len(facts.versions)) == (1, ("the ostia page",), 2)


@pytest.mark.slow
def test_the_rank_is_compared_with_all_indexed_pages(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    link = Link("http://hub.test/", "The Hub", False)
    docs = [Doc(f"http://{name}.test/", name, "A page about ropes.", links=(link,)) for name in names]
    collection = shelve(tmp_path, [*docs, Doc("http://hub.test/", "Hub", "A hub of ropes.")])
    assert typed("rank", "--home", tmp_path).code == 0
    index(collection)
    with opened_library(collection) as library:
        facts = library.facts("http://hub.test/")
    assert facts is not None
    assert facts.rank is not None
    assert (facts.rank.in_links, facts.rank.percentile, facts.anchors) == (3, 75.0, ("the hub",))
    assert 0 < facts.rank.value < 1


def test_the_facts_of_a_site(library: PageLibrary) -> None:
    site = library.site("harbours.test")
    assert site is not None
    assert (site.host, site.pages) == ("harbours.test", 4)
    assert [page.url for page in site.top][:2] == ["http://harbours.test/", OSTIA]
    assert (site.newest.url, site.newest_at) == (OSTIA, SECOND)
    assert library.site("nowhere.test") is None
    assert library.site("") is None


def test_without_a_catalog_the_page_is_shown_without_versions(tmp_path: Path) -> None:
    collection = shelved(tmp_path)
    collection.catalog.unlink()
    with opened_library(collection) as library:
        assert library.versions(OSTIA) == ()
        assert library.text(OSTIA, at=FIRST) is None
        assert lines(library.text(OSTIA))[0] == "Ostia"


def test_reading_changes_no_file_of_the_collection(tmp_path: Path) -> None:
    collection = shelved(tmp_path)
    with opened_library(collection) as library:
        before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
        library.facts(OSTIA)
        library.text(OSTIA, "harbour", FIRST)
        library.site("harbours.test")
        assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_catalog_opened_for_reading_cannot_be_written(tmp_path: Path) -> None:
    collection = shelved(tmp_path)
    catalog = open_catalog(collection, Queries, read_only=True)
    with pytest.raises(Exception, match="readonly"):
        catalog._database.run("add_seed", "http://x.test/", 0.0)
    catalog.close()
