"""What the updates of a live crawl leave for later, and what a later build makes good."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from index.live import live_index
from periplus.config import Indexing
from periplus.index.build import IndexSummary, build_index
from periplus.index.planning.lineage import Continuation
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from search.library import Doc, give_ranks, opened, shelve

LIVE = Continuation(most_removed=0.5, most_new=1.0, all_languages=True, ranks_later=True, vectors_later=True)
LATER = Continuation(most_removed=0.5, all_languages=True)
FIRST = "http://a.test/1"


def pages(first: int, end: int, language: str = "en") -> list[Doc]:
    return [Doc(f"http://a.test/{n}", f"Page {n}", f"harbour number{n}", language=language) for n in range(first, end)]


def update(collection: Collection, limits: Continuation = LIVE, only: list[str] | None = None) -> IndexSummary:
    return build_index(collection, Indexing(memory_mb=128), limits=limits, only=only)


def test_new_ranks_reach_the_index_without_writing_a_document_again(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 10))
    update(collection)
    give_ranks(collection, {FIRST: 50.0}, {FIRST: ["lighthouse"]})
    summary = update(collection)
    assert (summary.build, summary.added, summary.removed) == ("update", 0, 0)
    with opened(collection) as engine:
        number = engine.index.find(FIRST)
        assert number is not None
        assert engine.index.ranks[number] > 49
        assert engine.search("lighthouse").total == 0, "anchor texts come later"
    assert update(collection).build == "none"


def test_a_later_build_writes_the_documents_whose_anchor_texts_have_changed(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 10))
    update(collection)
    give_ranks(collection, {FIRST: 50.0}, {FIRST: ["lighthouse"]})
    update(collection)
    summary = update(collection, LATER)
    assert (summary.build, summary.added, summary.removed, summary.kept) == ("update", 1, 1, 9)
    with opened(collection) as engine:
        assert [hit.url for hit in engine.search("lighthouse").hits] == [FIRST]


def test_a_page_in_another_language_is_added(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    update(collection)
    shelve(tmp_path, pages(5, 6, "de"))
    assert update(collection).build == "update"
    with opened(collection) as engine:
        assert engine.search("number5").total == 1
        assert set(engine.index.languages) == {"en", "de"}


def test_word_vectors_come_with_a_later_build(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 30))
    update(collection)
    shelve(tmp_path, pages(30, 33))
    assert update(collection).build == "update"
    assert not (live_index(collection) / "vectors").exists()
    with opened(collection) as engine:
        assert engine.search("harbour").total == 33
    full = update(collection, Continuation(full=True))
    assert (full.build, full.documents) == ("full", 33)
    assert (live_index(collection) / "vectors").is_dir()
    shelve(tmp_path, pages(33, 34))
    update(collection)
    assert (live_index(collection) / "vectors").is_dir(), "updates keep them"


def test_an_index_that_grows_is_not_built_anew(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 2))
    update(collection)
    for first in (2, 10, 30):
        shelve(tmp_path, pages(first, 3 * first + 4))
        assert update(collection).build == "update"


def test_segments_that_are_not_named_wait(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 4))
    with closing(open_catalog(collection)) as catalog:
        first = [segment.name for segment in catalog.segments("pages")]
    shelve(tmp_path, pages(4, 6))
    assert update(collection, only=first).documents == 4
    assert update(collection).documents == 6
