"""Results do not depend on the segments into which tantivy has divided the index."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pytest
from tantivy import Document, Index, Query, SchemaBuilder

from periplus.config import Indexing
from periplus.index.build import build_index
from periplus.index.partitions import run
from periplus.index.planning.lineage import Continuation
from periplus.model import Image
from periplus.search import best_hits as module
from periplus.search.best_hits import best_hits
from periplus.store.collection import Collection, open_collection
from periplus.store.task_runner import InProcessRunner
from search.library import Doc, index, opened, shelve, urls


def made(words: Sequence[str], *sizes: int) -> Index:
    """An index of one word per document, with segments of these sizes; tantivy has the largest first."""
    found = Index(SchemaBuilder().add_text_field("word").add_integer_field("number", fast=True).build())
    writer = found.writer(heap_size=15_000_000, num_threads=1)
    ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
    for number, word in enumerate(words):
        writer.add_document(Document(word=word, number=number))
        if number + 1 in ends:
            writer.commit()
    writer.wait_merging_threads()
    found.reload()
    return found


def best(found: Index, limit: int) -> list[int]:
    searcher = found.searcher()
    query = Query.term_query(found.schema, "word", "sail")
    hits = best_hits(lambda most: searcher.search(query, most), searcher, limit, ["number"])
    assert searcher.fast_field_values("number", hits.addresses) == hits.numbers[0].tolist()
    assert len(hits.keys) == len(hits.addresses)
    return list(map(int, hits.numbers[0]))


def test_of_equal_matches_the_lowest_numbers_are_found_in_every_division_into_segments() -> None:
    words = ["sail", "rope"] * 150
    for sizes in ((300,), (200, 100), (40, 100, 160)):
        assert best(made(words, *sizes), 10) == list(range(0, 20, 2)), sizes
        assert best(made(words, *sizes), 150) == list(range(0, 300, 2)), sizes


def test_a_better_match_is_found_before_equal_ones_with_lower_numbers() -> None:
    words = [*["sail"] * 200, "sail sail", *["rope"] * 20]
    assert best(made(words, 40, 181), 5) == [200, 0, 1, 2, 3]


def test_very_many_equal_matches_are_not_all_read_and_in_two_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOW", 350)
    asked, found = list[int](), made(["sail"] * 400, 400)
    searcher, query = found.searcher(), Query.all_query()

    def search(most: int) -> object:
        asked.append(most)
        return searcher.search(query, most)

    assert len(best_hits(search, searcher, 10, ["number"]).addresses) == 10  # type: ignore[arg-type]
    assert asked == [26, 350]


@pytest.mark.parametrize("words", [["sail"] * 200, ["sail", "sail sail", "sail sail", "rope"] * 60])
def test_the_matches_of_a_low_limit_are_the_first_of_every_higher_limit(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Also when more of them are equal than a window has, and when the limit is beyond the window."""
    monkeypatch.setattr(module, "_WINDOW", 50)
    found = made(words, 30, 80, len(words) - 110)
    everything = best(found, len(words))
    assert sorted(everything) == [number for number, word in enumerate(words) if word != "rope"]
    for limit in (1, 10, 40, 45, 50, 51, 70, 99, 100, 149, 170):
        assert best(found, limit) == everything[:limit], limit


@pytest.fixture(scope="module")
def alike(tmp_path_factory: pytest.TempPathFactory) -> tuple[Collection, Collection]:
    """The same pages in an index that one process has written, and in one of three partitions; most pages are equal."""
    one = shelve(
        tmp_path_factory.mktemp("alike") / "one",
        [
            Doc(
                f"http://h{number % 5}.test/{number}",
                "A sail" if number % 9 else f"The best sail {number}",
                f"rope and sail {number:04d}",
                published=1.6e9 + 86_400 * (number % 3),
                images=(Image(f"http://img.test/{number}.png", "a sail"),),
            )
            for number in range(500)
        ],
        reparsed=True,
    )
    other = open_collection(shutil.copytree(one.home, one.home.with_name("other")))
    index(one)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "partition_sizes", lambda documents, _: [50, 150, documents - 200])
        build_index(other, Indexing(memory_mb=128), limits=Continuation(full=True), runner=InProcessRunner())
    return one, other


@pytest.mark.slow
@pytest.mark.parametrize("query", ["sail", "rope sail", "site:h1.test", "best OR sail", "sail lang:en"])
def test_two_builds_of_the_same_pages_have_the_same_results_news_and_images(
    alike: tuple[Collection, Collection], query: str
) -> None:
    one, other = alike
    with opened(one, ranking__candidates=40) as first, opened(other, ranking__candidates=40) as second:
        assert first.index._searcher.num_segments != second.index._searcher.num_segments
        for page in (1, 2, 4):
            expected, found = (engine.search(query, page=page) for engine in (first, second))
            assert urls(found) == urls(expected) != []
            assert [hit.score for hit in found.hits] == [hit.score for hit in expected.hits]
            assert urls(second.news(query, page=page)) == urls(first.news(query, page=page))
            shown, wanted = (engine.media(query, "image", page=page).hits for engine in (second, first))
            assert shown == wanted != ()


@pytest.mark.slow
def test_pages_deep_in_a_list_of_very_many_equal_matches_are_parts_of_one_list(
    alike: tuple[Collection, Collection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_WINDOW", 60)
    for collection in alike:
        with opened(collection, ranking__candidates=40) as engine:
            for search in (engine.search, engine.news):
                found = [url for page in range(1, 26) for url in urls(search("sail", page=page, size=20))]
                assert len(found) == len(set(found)) == 500
