"""`inspect` shows which pages have a word, and which words a page has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crawl.crawling import run_crawl, typed
from periplus.errors import DamagedFile, NoIndex, UsageError
from periplus.inspector.word_report import term_report, word_report, words_of
from periplus.store.collection import Collection, open_collection
from search.library import Doc, index, shelve
from testweb import Page, Site, TestWeb

SEED = "http://a.test/"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("indexed") / "home"
    pages = {
        "/": Page(title="Home", text="The start of everything.", links=["/merging", "/other"]),
        "/merging": Page(title="Merging", text="One branch merges another. Merge often, merge early."),
        "/other": Page(title="Other", text="A long page about harbours that once says merged, " + "and more " * 50),
    }
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, home, SEED)
    assert typed("index", "--home", home).code == 0
    return home


@pytest.fixture
def collection(home: Path) -> Collection:
    return open_collection(home)


def test_a_word_has_the_frequency_of_all_words_with_its_stem(collection: Collection) -> None:
    found = term_report(collection, "Merged", "en", 10)
    assert (found["word"], found["term"], found["documents"], found["of_documents"]) == ("merged", "merg", 2, 3)
    assert found["idf"] == pytest.approx(np.log1p(1.5 / 2.5), abs=0.001)
    counts = {one["word"]: (one["documents"], one["counts"]) for one in found["words"]}
    assert counts["merge"] == (1, {"body": 2})
    assert counts["merging"] == (1, {"url": 1, "title": 1, "headings": 1, "body": 1})


def test_the_best_page_comes_first(collection: Collection) -> None:
    first, second = term_report(collection, "merge", "en", 10)["top"]
    assert (first["url"], second["url"]) == (f"{SEED}merging", f"{SEED}other")
    assert first["score"] > second["score"] > 0
    assert len(term_report(collection, "merge", "en", 1)["top"]) == 1


def test_a_common_word_and_an_unknown_word_are_explained(collection: Collection) -> None:
    the = term_report(collection, "the", "en", 10)
    assert (the["term"], the["documents"]) == ("the", 1)
    absent = term_report(collection, "absent", "en", 10)
    assert (absent["documents"], absent["words"], absent["top"]) == (0, [], [])


@pytest.mark.parametrize("text", ["two words", "", "…"])
def test_only_one_word_can_be_inspected(collection: Collection, text: str) -> None:
    with pytest.raises(UsageError, match="not one word"):
        term_report(collection, text, "en", 10)


def test_a_page_shows_its_words_by_field(collection: Collection) -> None:
    found: dict[str, Any] | None = words_of(collection, f"{SEED}merging")
    assert found is not None
    assert found["title"] == {"length": 1, "different": 1, "words": {"merging": 1}}
    assert found["body"]["words"]["merge"] == 2
    assert words_of(collection, f"{SEED}absent") is None


def test_both_commands_print_tables(home: Path) -> None:
    told = typed("inspect", "term", "merge", "--home", home)
    assert (told.code, told.err) == (0, "")
    assert "2 of 3 pages" in told.out
    assert f"{SEED}merging" in told.out
    assert typed("inspect", "term", "merge", "--home", home, "--json").json["documents"] == 2
    told = typed("inspect", "url", f"{SEED}merging", "--home", home)
    assert "words: title" in told.out
    assert "merge 2" in told.out


def test_the_neighbours_of_a_word_are_words_in_similar_company(tmp_path: Path) -> None:
    texts = {"merge": "branch merge commit rebase", "mail": "mail relay bounce inbox"}
    docs = [Doc(f"{SEED}{name}/{number}", name, f"{text} " * 5) for name, text in texts.items() for number in range(8)]
    made = shelve(tmp_path / "home", docs)
    index(made)
    found = word_report(made, "Merge", 2)
    assert {one["word"] for one in found["neighbours"]} < {"branch", "commit", "rebase"}
    assert [one["documents"] for one in found["neighbours"]] == [8, 8]
    assert (found["documents"], found["of_documents"], found["language"]) == (8, 16, "en")
    assert found["has_vector"]
    told = typed("inspect", "word", "merge", "--home", tmp_path / "home")
    assert (told.code, told.err) == (0, "")
    assert "cosine" in told.out
    assert "8 of 16 pages" in told.out


def test_a_word_has_its_counts_and_words_with_similar_spelling(collection: Collection) -> None:
    found = word_report(collection, "merge", 10)
    assert found["counts"] == {"body": 2}
    assert [one["word"] for one in found["spellings"]] == ["merged", "merges", "more"]
    (first,) = word_report(collection, "merge", 1)["spellings"]
    assert (first["word"], first["documents"]) == ("merged", 1)
    assert 0 < first["edits"] <= 1


def test_an_unknown_word_has_similar_words_but_no_neighbours(home: Path, collection: Collection) -> None:
    found = word_report(collection, "merrge", 10)
    assert (found["documents"], found["language"], found["has_vector"], found["neighbours"]) == (0, None, False, [])
    assert found["spellings"][0]["word"] == "merge"
    told = typed("inspect", "word", "merrge", "--home", home)
    assert "no page has this word" in told.out
    assert typed("inspect", "word", "merrge", "--home", home, "--json").json == found


def test_a_collection_without_an_index_has_no_neighbours(tmp_path: Path) -> None:
    with pytest.raises(NoIndex, match="no index yet"):
        word_report(Collection(tmp_path), "merge", 10)


def test_a_damaged_index_is_named(home: Path, collection: Collection) -> None:
    (path,) = (home / "index").glob("gen-*/tantivy/meta.json")
    whole = path.read_bytes()
    path.write_bytes(b"?")
    try:
        with pytest.raises(DamagedFile, match="tantivy is damaged"):
            words_of(collection, SEED)
    finally:
        path.write_bytes(whole)


def test_a_collection_without_an_index_has_no_words(tmp_path: Path) -> None:
    assert words_of(Collection(tmp_path), SEED) is None
