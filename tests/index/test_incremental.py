"""An update of the index gives the same index as a full build, without writing what has not changed."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from crawl.crawling import sound
from index.content import content_of, urls_of
from index.damage import flip
from index.live import facts_of, live_index, problems_of
from periplus.errors import DamagedFile
from periplus.index.planning import lineage
from periplus.index.storage import parts
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.parts import document_numbers, parts_of, parts_to_merge
from periplus.index.writer import IndexWriter, Written
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, give_ranks, index, opened, shelve


def pages(first: int, end: int, host: str = "a.test") -> list[Doc]:
    return [Doc(f"http://{host}/{n}", f"Page {n}", f"harbour number{n} shared{n % 3}") for n in range(first, end)]


def files_of(generation: Path) -> dict[str, bytes]:
    return {str(path.relative_to(generation)): path.read_bytes() for path in generation.rglob("*") if path.is_file()}


def rebuilt(collection: Collection) -> object:
    """The content of a full build of the same pages."""
    assert index(collection, full=True).build == "full"
    return content_of(live_index(collection))


@pytest.fixture
def many_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of a few documents are not merged because they are small."""
    monkeypatch.setattr(parts, "_SMALL", 1)


@pytest.fixture
def never_full(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but a setting or damage leads to a full build."""
    monkeypatch.setattr(lineage, "MOST_REMOVED", math.inf)
    monkeypatch.setattr(lineage, "MOST_NEW", math.inf)


# -- what an update does --------------------------------------------------------------------------------------------


def test_new_pages_are_added_and_the_others_are_kept(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 45))
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed, summary.kept) == ("update", 5, 0, 40)
    assert (summary.documents, summary.generation, summary.why) == (45, 2, "")
    with opened(collection) as engine:
        assert engine.search("harbour", mode="and").total == 45
        assert [hit.title for hit in engine.search("number42").hits] == ["Page 42"]
    sound(tmp_path)


def test_a_changed_page_is_found_by_its_new_words_only(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/7", "Lighthouse", "lamp oil", at=1_800_000_000.0)])
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed, summary.kept) == ("update", 1, 1, 39)
    with opened(collection) as engine:
        assert engine.search("number7").total == 0
        assert [hit.url for hit in engine.search("lamp").hits] == ["http://a.test/7"]
        assert [hit.url for hit in engine.search("harbour", mode="and", size=100).hits].count("http://a.test/7") == 0


def test_a_page_that_must_not_be_indexed_any_more_is_removed(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/7", noindex=True, at=1_800_000_000.0)])
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed, summary.documents) == ("update", 0, 1, 39)
    with opened(collection) as engine:
        assert engine.search("number7").total == 0
        assert engine.documents == 39
    assert content_of(live_index(collection)) == rebuilt(collection)


@pytest.mark.slow
def test_a_page_that_comes_back_is_found_again(tmp_path: Path, never_full: None) -> None:
    collection = shelve(tmp_path, pages(0, 9))
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/7", noindex=True, at=1_800_000_000.0)])
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/7", "Back", "again", at=1_900_000_000.0)])
    assert index(collection).build == "update"
    with opened(collection) as engine:
        assert [hit.title for hit in engine.search("again").hits] == ["Back"]
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_without_a_change_no_generation_is_published(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    index(collection)
    before = files_of(live_index(collection))
    summary = index(collection)
    assert (summary.build, summary.generation, summary.kept, summary.documents) == ("none", 1, 5, 5)
    assert files_of(live_index(collection)) == before
    assert {path.name for path in collection.index.iterdir()} == {"gen-000001", "CURRENT", "build.lock"}


@pytest.mark.slow
def test_new_ranks_reach_the_index_though_no_page_is_written_again(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 30))
    give_ranks(collection, {"http://a.test/3": 2.0})
    index(collection)
    give_ranks(collection, {"http://a.test/3": 2.1, "http://a.test/4": 1.2})
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed) == ("update", 0, 0)
    with opened(collection) as engine:
        (hit,) = engine.search("number4", explain=True).hits
        assert hit.explain["rank"] > 0
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_a_page_whose_rank_changes_much_is_written_again(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 30))
    give_ranks(collection, {"http://a.test/3": 2.0})
    index(collection)
    give_ranks(collection, {"http://a.test/3": 900.0})
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed) == ("update", 1, 1)
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_a_page_with_a_new_anchor_text_is_found_by_it(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 30))
    give_ranks(collection, {}, {"http://a.test/3": ["chart", "map"], "http://a.test/4": ["lamp"]})
    index(collection)
    give_ranks(collection, {}, {"http://a.test/3": ["map", "chart"], "http://a.test/4": ["lamp", "beacon"]})
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed) == ("update", 1, 1)
    with opened(collection) as engine:
        assert [hit.url for hit in engine.search("beacon").hits] == ["http://a.test/4"]
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_a_page_with_a_new_copy_is_written_again(tmp_path: Path) -> None:
    copied = Doc("http://a.test/long/address", "Copied", "words", body=b"same")
    collection = shelve(tmp_path, [*pages(0, 30), copied])
    index(collection)
    shelve(tmp_path, [Doc("http://b.test/", "Copied", "words", body=b"same")])
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed, summary.duplicates) == ("update", 1, 1, 1)
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_a_host_with_enough_pages_for_a_template_loses_it_from_all_its_pages(tmp_path: Path, never_full: None) -> None:
    def chart(number: int) -> Doc:
        text = f"Harbour office\nDepths off cape {number} and the rocks around it.\nNewsletter"
        return Doc(f"http://chart.test/{number}", f"Chart {number} - Pilots", text)

    collection = shelve(tmp_path, [*pages(0, 30), *map(chart, range(3))])
    index(collection)
    shelve(tmp_path, map(chart, range(3, 8)))
    summary = index(collection)
    assert (summary.build, summary.added, summary.removed) == ("update", 8, 3)
    with opened(collection) as engine:
        assert engine.search("newsletter").total == 0
        assert [hit.title for hit in engine.search("cape 2", mode="and").hits] == ["Chart 2"]
    assert content_of(live_index(collection)) == rebuilt(collection)


def test_a_template_stays_as_the_full_build_found_it(tmp_path: Path) -> None:
    def chart(number: int, end: str) -> Doc:
        return Doc(f"http://a.test/{number}", f"Chart {number}", f"Menu\nDepths off cape {number}.\n{end}")

    collection = shelve(tmp_path, [chart(number, "Newsletter") for number in range(30)])
    index(collection)
    shelve(tmp_path, [chart(number, "Newsletter") for number in range(30, 35)])
    assert index(collection).build == "update"
    with opened(collection) as engine:
        assert engine.search("newsletter").total == engine.search("menu").total == 0


# -- when a full build is made --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"full": True}, "--full was given"),
        ({"forward_words": 200}, "index.forward_words has changed"),
        ({"prior_strength": 0.2}, "index.prior_strength has changed"),
        ({"vectors": False}, "index.vectors has changed"),
    ],
)
def test_a_setting_that_changes_documents_leads_to_a_full_build(
    tmp_path: Path, flags: dict[str, object], why: str
) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    assert (index(collection).build, index(collection).build) == ("full", "none")
    summary = index(collection, **flags)  # type: ignore[arg-type]
    assert (summary.build, summary.why, summary.added, summary.kept) == ("full", why, 5, 0)


def test_a_new_language_leads_to_a_full_build(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 30))
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/de", "Hafen", "Die Häuser am Hafen", language="de")])
    assert index(collection).why == "no page was in the language de before"


def test_a_language_whose_last_page_is_gone_does_not_stop_a_search(tmp_path: Path) -> None:
    german = Doc("http://a.test/de", "Hafen", "Die Häuser am Hafen", language="de")
    collection = shelve(tmp_path, [*pages(0, 30), german])
    index(collection)
    shelve(tmp_path, [Doc(german.url, noindex=True, at=1_800_000_000.0)])
    assert index(collection).build == "update"
    with opened(collection) as engine:
        assert engine.search("hafen").total == 0
        assert engine.search("harbour", mode="and").total == 30


def test_when_a_fifth_was_removed_the_index_is_built_anew(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 50))
    index(collection)
    gone = [Doc(f"http://a.test/{n}", noindex=True, at=1_800_000_000.0) for n in range(11)]
    shelve(tmp_path, gone[:10])
    assert index(collection).build == "update"
    shelve(tmp_path, gone[10:])
    assert index(collection).why == "more than 20% of the documents were removed since the last full build"
    assert facts_of(live_index(collection))["numbers"] == 39


@pytest.mark.slow
def test_when_the_index_has_doubled_it_is_built_anew(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 20))
    index(collection)
    shelve(tmp_path, pages(20, 40))
    assert index(collection).build == "update"
    shelve(tmp_path, pages(40, 41))
    assert index(collection).why == "more than 50% of the documents are newer than the last full build"
    shelve(tmp_path, pages(41, 42))
    assert index(collection).build == "update"


def test_an_index_of_another_release_is_built_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    index(collection)
    monkeypatch.setattr(lineage, "__version__", "99")
    assert index(collection).why == "the last index was built by another release"


@pytest.mark.parametrize(
    "name", ["forward/text.npy", "forward/counts.npy", "documents.parquet", "ranks.npy", "templates.npy"]
)
def test_a_damaged_index_is_not_continued(tmp_path: Path, name: str) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    index(collection)
    flip(live_index(collection) / name)
    summary = index(collection)
    assert summary.build == "full"
    assert f"{name} is damaged" in summary.why
    assert problems_of(live_index(collection)) == []


def test_damage_of_the_inverted_index_is_noticed_before_an_update(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 5))
    index(collection)
    flip(next((live_index(collection) / "tantivy").glob("*.idx")))
    assert index(collection).build == "full"


# -- files ----------------------------------------------------------------------------------------------------------


def test_the_old_generation_stays_as_it_was_and_shares_its_files(tmp_path: Path, many_parts: None) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    old = live_index(collection)
    before = files_of(old)
    shelve(tmp_path, [*pages(40, 45), Doc("http://a.test/7", "Changed", "x", at=1_800_000_000.0)])
    index(collection)
    new = live_index(collection)
    assert files_of(old) == before
    assert new != old
    for name in ("texts.dat", "forward/text.npy", "vectors/vectors.npy"):
        assert (old / name).samefile(new / name)
    assert problems_of(old) == problems_of(new) == []


def test_where_files_cannot_be_linked_they_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 45))
    monkeypatch.setattr(os, "link", refuse)
    assert index(collection).build == "update"
    assert problems_of(live_index(collection)) == []
    with opened(collection) as engine:
        assert engine.search("harbour", mode="and").total == 45


def test_linked_files_are_not_read_again_to_publish_them(
    tmp_path: Path, many_parts: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 42))
    read: list[str] = []
    synced = Generations._synced

    def noted(self: Generations, path: Path) -> object:
        read.append(path.name)
        return synced(self, path)

    monkeypatch.setattr(Generations, "_synced", noted)
    index(collection)
    assert {"ranks.npy", "documents.parquet", "counts.npy"} <= set(read)
    assert "vectors.npy" not in read
    assert read.count("texts.dat") == 1, "that of the new part"


@pytest.mark.slow
def test_a_reader_keeps_its_generation_while_others_are_published(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    with opened(collection) as engine:
        answers = [(hit.url, hit.score, hit.snippet) for hit in engine.search("harbour", size=100).hits]
        for first in (40, 45, 50, 55):
            shelve(tmp_path, pages(first, first + 5))
            assert index(collection).build == "update"
        assert [(hit.url, hit.score, hit.snippet) for hit in engine.search("harbour", size=100).hits] == answers
        assert engine.documents == 40


@pytest.mark.slow
def test_many_small_updates_leave_few_parts_and_segments(tmp_path: Path, many_parts: None, never_full: None) -> None:
    collection = shelve(tmp_path, pages(0, 4))
    index(collection, vectors=False)
    most_parts = most_segments = 0
    for n in range(4, 40):
        shelve(tmp_path, pages(n, n + 1))
        assert index(collection, vectors=False).build == "update"
        generation = live_index(collection)
        most_parts = max(most_parts, len(parts_of(generation)))
        most_segments = max(most_segments, len(list((generation / "tantivy").glob("*.idx"))))
        assert urls_of(generation) == [f"http://a.test/{one}" for one in range(n + 1)]
    assert 1 < most_parts <= 4
    assert most_segments <= 10


@pytest.mark.long
def test_the_two_thousandth_small_update_opens_within_200_ms(tmp_path: Path, never_full: None) -> None:
    collection = shelve(tmp_path, pages(0, 4))
    index(collection, vectors=False)
    for n in range(4, 2_004):
        shelve(tmp_path, pages(n, n + 1))
        assert index(collection, vectors=False).build == "update"
    times = []
    for _ in range(5):
        started = time.perf_counter()
        with opened(collection) as engine:
            times.append(time.perf_counter() - started)
            assert engine.documents == 2_004
    assert min(times) < 0.2


def test_every_part_is_much_larger_than_the_next() -> None:
    sizes = [100_000]
    for _ in range(2_000):
        merged = parts_to_merge(sizes, 1)
        sizes = [*sizes[: len(sizes) - merged], sum(sizes[len(sizes) - merged :]) + 1]
        assert all(one > 3 * other for one, other in pairwise(sizes))
    assert (sizes[0], sum(sizes)) == (100_000, 102_000)
    assert len(sizes) <= 3


@pytest.mark.slow
def test_an_update_after_a_rollback_continues_the_live_generation(tmp_path: Path) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 45))
    index(collection)
    Generations(collection.index, INDEX_KIND).roll_back()
    shelve(tmp_path, pages(45, 47))
    summary = index(collection)
    assert (summary.build, summary.added, summary.generation) == ("update", 7, 3)
    assert content_of(live_index(collection)) == rebuilt(collection)


# -- an update is verified before it is published -------------------------------------------------------------------


def _one_more(finish: Callable[[IndexWriter], Written]) -> Callable[[IndexWriter], Written]:
    return lambda writer: finish(writer)._replace(by_shard=[6])


def test_documents_lost_in_an_update_are_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 45))
    monkeypatch.setattr(IndexWriter, "finish", _one_more(IndexWriter.finish))
    with pytest.raises(DamagedFile, match="6 documents were written and 40 kept, 45 were planned"):
        index(collection)
    with opened(collection) as engine:
        assert engine.generation == 1


def test_a_removed_document_that_is_still_found_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, [Doc("http://a.test/7", noindex=True, at=1_800_000_000.0)])
    # no document has a kind of this number
    monkeypatch.setattr("periplus.index.documents.document_writer.NUMBER", "kind")
    with pytest.raises(DamagedFile, match="39 documents were written"):
        index(collection)


def test_a_part_that_is_missing_is_noticed(tmp_path: Path, many_parts: None) -> None:
    collection = shelve(tmp_path, pages(0, 40))
    index(collection)
    shelve(tmp_path, pages(40, 42))
    index(collection)
    generation = live_index(collection)
    (generation / "parts" / "40").rename(generation / "parts" / "41")
    with pytest.raises(DamagedFile, match="a part of the page store is missing"):
        PageStore(generation)


@pytest.mark.slow
def test_numbers_are_not_used_again(tmp_path: Path, never_full: None) -> None:
    collection = shelve(tmp_path, pages(0, 9))
    index(collection)
    for at in (1, 2, 3):
        shelve(tmp_path, [Doc("http://a.test/8", f"Version {at}", f"word{at}", at=1_800_000_000.0 + at)])
        index(collection)
    assert document_numbers(live_index(collection)).tolist() == [*range(8), 11]
