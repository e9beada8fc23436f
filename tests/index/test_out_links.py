"""The first links of every page are stored, and their number."""

from __future__ import annotations

from pathlib import Path

from index.live import live_index
from periplus.index.pagestore import Details, PageStore
from periplus.model import Link
from search.library import Doc, index, shelve

MANY = tuple(Link(f"http://a.test/{n:02}", f"link {n}", nofollow=False) for n in range(30))


def details(home: Path, *docs: Doc) -> dict[str, Details]:
    collection = shelve(home, docs)
    index(collection)
    with PageStore(live_index(collection)) as pages:
        return {pages.head(number).url: pages.details(number) for number in range(len(pages))}


def test_the_first_ten_links_are_stored_in_their_order(tmp_path: Path) -> None:
    found = details(tmp_path, Doc("http://a.test/", "A", links=MANY), Doc("http://b.test/", "B", links=MANY[3:5]))
    assert found["http://a.test/"].link_count == 30
    assert found["http://a.test/"].links == tuple(link.target for link in MANY[:10])
    assert found["http://b.test/"].link_count == 2
    assert found["http://b.test/"].links == ("http://a.test/03", "http://a.test/04")


def test_a_page_without_links_has_none(tmp_path: Path) -> None:
    found = details(tmp_path, Doc("http://a.test/", "A"), Doc("http://b.test/", "B", links=MANY))
    assert (found["http://a.test/"].link_count, found["http://a.test/"].links) == (0, ())


def test_only_the_newest_version_of_a_page_counts(tmp_path: Path) -> None:
    new = Doc("http://a.test/", "A", at=2000.0, links=MANY[:1])
    old = Doc("http://a.test/", "A", at=1000.0, links=MANY[5:9])
    found = details(tmp_path, new, old, Doc("http://b.test/", "B"))
    assert found["http://a.test/"].links == ("http://a.test/00",)
    assert found["http://a.test/"].link_count == 1
