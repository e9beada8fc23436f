"""The index contains the newest version of every page, each content once; errors are clear."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from crawl.crawling import sound
from index.damage import WAYS, change, flip
from index.live import facts_of, live_index, problems_of
from periplus.config import Indexing, LinkAnalysis
from periplus.errors import CollectionLocked, DamagedFile, DiskFull, NoIndex, PeriplusError
from periplus.graph.run import rank
from periplus.index.build import build_index, near_copy
from periplus.index.storage.pagestore import PageStore
from periplus.index.writer import IndexWriter, Written
from periplus.model import Link
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection, create_collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, documents_of, index, opened, shelve
from store.small_disk import fill, small_disk


def heads(collection: Collection) -> dict[str, str]:
    """Title by URL, of the live generation."""
    with PageStore(live_index(collection)) as pages:
        return {pages.head(number).url: pages.head(number).title for number in range(len(pages))}


# -- what becomes a document ----------------------------------------------------------------------------------------


def test_every_page_becomes_a_document(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc(f"http://a.test/{n}", f"Page {n}") for n in range(40)])
    summary = index(collection)
    assert (summary.documents, summary.duplicates, summary.generation) == (40, 0, 1)
    generation = live_index(collection)
    assert summary.bytes == sum(path.stat().st_size for path in generation.rglob("*") if path.is_file())
    assert facts_of(generation)["documents"] == 40
    assert heads(collection) == {f"http://a.test/{n}": f"Page {n}" for n in range(40)}
    assert problems_of(generation) == []
    sound(tmp_path)


def test_the_newest_version_of_a_page_wins_wherever_it_lies(tmp_path: Path) -> None:
    url = "http://a.test/"
    shelve(tmp_path, [Doc(url, "middle", at=2000.0), Doc("http://b.test/", "b")])
    shelve(tmp_path, [Doc(url, "newest", at=3000.0)])
    collection = shelve(tmp_path, [Doc(url, "oldest", at=1000.0)])
    assert index(collection).documents == 2
    assert heads(collection) == {url: "newest", "http://b.test/": "b"}


def test_a_page_whose_newest_version_is_noindex_is_left_out(tmp_path: Path) -> None:
    shelve(tmp_path, [Doc("http://a.test/", "was public", at=1.0), Doc("http://b.test/", noindex=True, at=1.0)])
    collection = shelve(
        tmp_path, [Doc("http://a.test/", noindex=True, at=2.0), Doc("http://b.test/", "now public", at=2.0)]
    )
    assert index(collection).documents == 1
    assert heads(collection) == {"http://b.test/": "now public"}


def test_a_page_that_stands_in_two_segments_is_one_document(tmp_path: Path) -> None:
    again = Doc("http://a.test/", "twice", "word")
    shelve(tmp_path, [again, Doc("http://a.test/other", "other", "word")])
    collection = shelve(tmp_path, [again, Doc("http://a.test/third", "third", "word")])
    summary = index(collection)
    assert (summary.documents, summary.duplicates) == (3, 0)
    with opened(collection) as engine:
        found = {hit.title: hit.url for hit in engine.search("word").hits}
    assert found == {"twice": again.url, "other": "http://a.test/other", "third": "http://a.test/third"}


def test_template_text_of_a_site_is_not_found_and_not_shown(tmp_path: Path) -> None:
    def chart(number: int) -> Doc:
        words = f"Harbour office\nDepths off cape {number} and the rocks around it.\nNewsletter"
        return Doc(f"http://a.test/{number}", f"Chart {number}", words)

    elsewhere = Doc("http://b.test/", "Elsewhere", "Harbour office\nNewsletter\nof another site")
    shelve(tmp_path, [chart(number) for number in range(0, 30, 2)])
    collection = shelve(tmp_path, [elsewhere, *(chart(number) for number in range(1, 30, 2))])
    index(collection)
    with PageStore(live_index(collection)) as pages:
        openings = {pages.head(number).url: pages.head(number).opening for number in range(len(pages))}
    assert openings[elsewhere.url] == elsewhere.text
    assert openings["http://a.test/7"] == "Depths off cape 7 and the rocks around it."
    with opened(collection) as engine:
        assert [hit.url for hit in engine.search("newsletter").hits] == [elsewhere.url]


def test_templates_do_not_depend_on_the_order_of_the_crawl(tmp_path: Path) -> None:
    """Of 60 pages 20 are compared, and three in five end with the same word: which ones are compared decides."""
    ends = ["\nBeta", "\nBeta", "\nBeta", "", ""]
    docs = [Doc(f"http://a.test/{n}", str(n), f"Menu\nAbout cape {n}.{ends[n % 5]}") for n in range(60)]
    texts = []
    for name, order in (("one", docs), ("other", random.Random(7).sample(docs, len(docs)))):
        shelve(tmp_path / name, order[:23])
        collection = shelve(tmp_path / name, order[23:])
        index(collection)
        with PageStore(live_index(collection)) as pages:
            texts.append({pages.head(number).url: pages.text(number) for number in range(len(pages))})
    assert texts[0] == texts[1]
    assert texts[0]["http://a.test/4"] == "About cape 4."


def test_an_index_of_noindex_pages_is_empty(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "x", noindex=True)])
    assert index(collection).documents == 0
    with opened(collection) as engine:
        assert engine.documents == 0
        assert engine.search("x").hits == ()
        assert engine.cached("http://a.test/") is None


def test_nothing_to_index_is_reported(tmp_path: Path) -> None:
    collection = create_collection(tmp_path)
    open_catalog(collection, create=True).close()
    with pytest.raises(NoIndex, match=r"nothing to index.*periplus crawl"):
        index(collection)
    assert not collection.index.exists()


# -- the same content at several addresses --------------------------------------------------------------------------


def test_pages_with_the_same_bytes_are_one_document_under_the_shortest_url(tmp_path: Path) -> None:
    addresses = ["http://a.test/index.html", "http://a.test/", "http://mirror.test/copy", "http://b.test/zz"]
    docs = [Doc(url, "Same", "text", body=b"same bytes") for url in addresses]
    collection = shelve(tmp_path, [*docs, Doc("http://c.test/", "Other", "text")])
    summary = index(collection)
    assert (summary.documents, summary.duplicates) == (2, 3)
    with opened(collection) as engine:
        assert documents_of(engine) == {
            "http://a.test/": ("http://a.test/index.html", "http://b.test/zz", "http://mirror.test/copy"),
            "http://c.test/": (),
        }


def test_an_old_version_that_equals_another_page_is_not_a_duplicate(tmp_path: Path) -> None:
    shelve(tmp_path, [Doc("http://a.test/", "old", at=1.0, body=b"x"), Doc("http://b.test/", "b", at=1.0, body=b"x")])
    collection = shelve(tmp_path, [Doc("http://a.test/", "new", at=2.0, body=b"y")])
    assert (index(collection).documents, index(collection).duplicates) == (2, 0)
    with opened(collection) as engine:
        assert documents_of(engine) == {"http://a.test/": (), "http://b.test/": ()}


# -- links ----------------------------------------------------------------------------------------------------------


def starred(home: Path) -> Collection:
    """Twelve pages link to one address of a document that has three."""
    famous = Link("http://star.test/long/address", "the famous lighthouse", nofollow=False)
    sources = [Doc(f"http://h{n}.test/", f"Page {n}", f"words {n}", links=(famous,)) for n in range(12)]
    copies = ["http://s.test/", famous.target, "http://star.test/z"]
    return shelve(home, [*sources, *(Doc(url, "Star", "shining", body=b"same") for url in copies)])


@pytest.mark.slow
def test_a_document_stands_under_the_address_that_is_linked_to_and_is_found_by_what_links_call_it(
    tmp_path: Path,
) -> None:
    collection = starred(tmp_path)
    rank(collection, LinkAnalysis())
    assert index(collection).duplicates == 2
    assert facts_of(live_index(collection))["ranks"] == 1
    with opened(collection) as engine:
        (hit,) = engine.search("famous lighthouse", explain=True, mode="and").hits
        assert hit.url == "http://star.test/long/address"
        assert set(hit.same_content) == {"http://s.test/", "http://star.test/z"}
        assert hit.explain["rank"] > 0
        (plain,) = engine.search("words 3", mode="and", explain=True).hits
        assert plain.explain["rank"] == pytest.approx(0.0, abs=1e-6)


def test_without_ranks_every_page_has_rank_1(tmp_path: Path) -> None:
    collection = starred(tmp_path)
    index(collection)
    assert facts_of(live_index(collection))["ranks"] == 0
    with opened(collection) as engine:
        assert engine.search("famous lighthouse", mode="and").total == 0
        (hit,) = engine.search("shining", explain=True).hits
        assert (hit.url, hit.explain["rank"]) == ("http://s.test/", 0.0)


# -- many pages, little memory --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_more_text_than_memory_is_indexed(tmp_path: Path) -> None:
    texts = (f"word{number % 997} " + "- " * 40_000 for number in range(2_500))
    collection = shelve(tmp_path, (Doc(f"http://a.test/{n}", f"Page {n}", text) for n, text in enumerate(texts)))
    summary = build_index(collection, Indexing(memory_mb=128, threads=2))
    assert summary.documents == 2_500
    with opened(collection) as engine:
        assert engine.search("word996").total == 2
    assert not list(collection.index.rglob("spill"))


def test_progress_is_reported(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc(f"http://a.test/{n}", f"Page {n}") for n in range(1_100)])
    reported: list[tuple[int, int]] = []
    build_index(collection, Indexing(), lambda done, total: reported.append((done, total)))
    assert reported == [(512, 1_100), (1_024, 1_100), (1_100, 1_100)]


# -- what can go wrong ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["deleted", "emptied", "zeroed", "cut in half"])
def test_a_damaged_segment_is_reported_in_one_line_and_the_last_index_serves(tmp_path: Path, way: str) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(collection)
    shelve(tmp_path, [Doc("http://b.test/", "Second", "word")])
    (broken,) = collection.segments.glob("pages-*-000002.parquet")
    WAYS[way](broken)
    with pytest.raises(DamagedFile, match=r"pages-w00-000002\.parquet is damaged: ") as caught:
        index(collection)
    assert str(caught.value).endswith("Run `periplus repair`.")
    assert "\n" not in str(caught.value)
    assert not list(collection.index.glob("*.tmp"))
    with opened(collection) as engine:
        assert engine.search("word").total == 1


@pytest.mark.parametrize(("column", "edit"), [("text", lambda text: text.upper()), ("offset", lambda at: at + 1)])
def test_a_segment_that_has_changed_but_can_be_read_is_not_indexed(
    tmp_path: Path, column: str, edit: Callable[[Any], Any]
) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    (path,) = collection.segments.glob("pages-*.parquet")
    change(path, column, edit)
    with pytest.raises(DamagedFile) as caught:
        index(collection)
    assert str(caught.value).startswith(f"{path} is damaged: ")
    assert not collection.index.exists()


@pytest.mark.parametrize("way", WAYS)
def test_a_damaged_segment_of_links_does_not_stop_the_index_which_then_stores_none(tmp_path: Path, way: str) -> None:
    link = Link("http://a.test/next", "next", nofollow=False)
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word", links=(link,) * 50)])
    (links,) = collection.segments.glob("links-*.parquet")
    WAYS[way](links)
    assert index(collection).documents == 1
    with PageStore(live_index(collection)) as pages:
        assert pages.details(0).link_count == 0


@pytest.mark.parametrize("name", ["ids.npy", "numbers.npy", "ranks.npy", "anchors.parquet"])
def test_damaged_ranks_are_not_indexed(tmp_path: Path, name: str) -> None:
    collection = starred(tmp_path)
    rank(collection, LinkAnalysis())
    flip(collection.ranks / "gen-1" / name, 1.0)
    with pytest.raises(DamagedFile, match=rf"gen-1/{name} is damaged: .*Run `periplus repair`\."):
        index(collection)
    assert Generations(collection.index, INDEX_KIND).live() is None


@pytest.mark.parametrize("way", ["emptied", "zeroed", "cut in half"])
def test_a_damaged_list_of_near_duplicates_is_named(tmp_path: Path, way: str) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(collection)
    generation = live_index(collection)
    WAYS[way](generation / "near.parquet")
    with pytest.raises(DamagedFile, match=r"near\.parquet is damaged: .*Run `periplus repair`\."):
        near_copy(generation, "http://a.test/")


def test_too_little_memory_is_reported_with_what_to_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])

    def too_much(*_: object) -> None:
        raise duckdb.OutOfMemoryException("no")

    monkeypatch.setattr("periplus.index.planning.plan.Plan._prepare", too_much)
    with pytest.raises(PeriplusError, match=r"Raise index\.memory_mb"):
        index(collection)


@pytest.mark.parametrize("name", ["heads.npy", "texts.dat", "forward/text.npy", "forward/forward.json"])
def test_a_generation_that_does_not_read_back_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(collection)
    finish = IndexWriter.finish

    def spoil(writer: IndexWriter) -> Written:
        written = finish(writer)
        (path,) = collection.index.rglob(f"*.tmp/{name}")
        path.write_bytes(b"")
        return written

    monkeypatch.setattr(IndexWriter, "finish", spoil)
    with pytest.raises(DamagedFile):
        index(collection, full=True)
    with opened(collection) as engine:
        assert engine.generation == 1


def test_documents_lost_on_the_way_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    finish = IndexWriter.finish
    monkeypatch.setattr(IndexWriter, "finish", lambda writer: finish(writer)._replace(by_shard=[2]))
    with pytest.raises(DamagedFile, match="2 documents were written"):
        index(collection)
    assert Generations(collection.index, INDEX_KIND).live() is None


@pytest.mark.slow
def test_a_full_disk_is_reported_and_the_last_index_serves(tmp_path: Path) -> None:
    chance = random.Random(1)
    with small_disk(tmp_path / "disk", "48m") as disk:
        texts = [" ".join(str(chance.random()) for _ in range(200)) for _ in range(500)]
        collection = shelve(disk / "c", [Doc(f"http://a.test/{n}", f"Page {n}", text) for n, text in enumerate(texts)])
        size = index(collection).bytes
        for share in (0.05, 0.5, 0.9):
            ballast = fill(disk, int(size * share))
            with pytest.raises(DiskFull, match="No space left on device"):
                index(collection, full=True)
            ballast.unlink()
            assert not list(collection.index.glob("*.tmp"))
            with opened(collection) as engine:
                assert engine.search("page", mode="and").total == 500
        assert index(collection, full=True).generation == 2


def test_a_second_build_is_refused_while_one_runs(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First")])
    with Generations(collection.index, INDEX_KIND).writing(), pytest.raises(CollectionLocked):
        index(collection)


@pytest.mark.slow
def test_an_engine_keeps_answering_from_the_generation_it_opened(tmp_path: Path) -> None:
    collection = shelve(tmp_path, [Doc("http://a.test/", "First", "word")])
    index(collection)
    with opened(collection) as engine:
        shelve(tmp_path, [Doc("http://b.test/", "Second", "word")])
        for _ in range(4):
            index(collection, full=True)
        assert (collection.index / "gen-000001").is_dir(), "a generation that is searched is not removed"
        assert [hit.title for hit in engine.search("word").hits] == ["First"]
    index(collection, full=True)
    assert not (collection.index / "gen-000001").exists()
    with opened(collection) as engine:
        assert engine.search("word").total == 2
