"""A reader is shown other searches that find something, and pages like a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.suggest.phrases import Phrases
from periplus.index.vectors.word_vectors import Vectors, open_vectors
from periplus.search.suggest.related import MOST_RELATED, page_similarities, page_words, related_searches
from search.library import Doc, index, shelve

TOPICS = {
    "Merging branches": "branch merge commit rebase conflict history branch merge",
    "Rebasing branches": "branch rebase commit merge conflict history branch rebase",
    "Sending mail": "mail recipient relay bounce message server mail relay",
    "Reading mail": "mail message recipient server folder inbox mail message",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    docs = [
        Doc(
            f"http://a.test/{title.replace(' ', '-')}/{number}",
            title=f"{title} {number}" if number else title,
            headings=(f"{number + 1}.1. {title} safely", "Options") if not number else (),
            text=f"{text} " * 4 + f"part {number}",
        )
        for title, text in TOPICS.items()
        for number in range(6)
    ]
    collection = shelve(tmp_path_factory.mktemp("related") / "home", docs)
    index(collection)
    return collection.index / "gen-000001"


@pytest.fixture
def words(folder: Path) -> ForwardIndex:
    return ForwardIndex(folder)


@pytest.fixture
def vectors(folder: Path, words: ForwardIndex) -> Vectors:
    found = open_vectors(folder, words.lexicon)
    assert found is not None
    return found


def related(folder: Path, query: str, hits: list[list[str]], vectors: Vectors | None = None) -> list[str]:
    return related_searches(query.split(), hits, ForwardIndex(folder).lexicon, Phrases(folder), vectors)


HITS = [["Merging branches", "1.1. Merging branches safely"], ["Rebasing branches"], ["Sending mail", "Options"]]


def test_titles_and_headings_with_a_word_of_the_query_are_related(folder: Path) -> None:
    assert related(folder, "branches", HITS) == ["Merging branches", "Merging branches safely", "Rebasing branches"]


def test_the_query_itself_and_parts_of_it_are_not_related(folder: Path) -> None:
    assert related(folder, "merging branches", HITS) == ["Merging branches safely", "Rebasing branches"]
    assert related(folder, "safely merging the branches", HITS) == ["Rebasing branches"]


def test_a_text_about_the_same_subject_is_related_without_a_common_word(folder: Path, vectors: Vectors) -> None:
    assert "Reading mail" in related(folder, "relay", [["Reading mail"]], vectors)
    assert "Reading mail" not in related(folder, "relay", [["Reading mail"]])


def test_only_phrases_of_the_collection_are_related_so_each_finds_something(folder: Path) -> None:
    assert related(folder, "branches", [["Branches of unknown trees"]]) == []


def test_at_most_six_are_shown_and_none_twice(folder: Path) -> None:
    titles = [[f"{title} {number}" for number in range(1, 6)] for title in TOPICS]
    found = related(folder, "branches mail", titles)
    assert len(found) == len(set(found)) <= MOST_RELATED


def test_nothing_is_related_to_nothing(folder: Path, vectors: Vectors) -> None:
    assert related(folder, "", HITS, vectors) == []
    assert related(folder, "branches", [], vectors) == []


def test_the_words_of_a_page_are_those_that_few_pages_have(words: ForwardIndex) -> None:
    found = page_words(words, 0, 4)
    assert len(found) == 4
    assert {"merging", "branches"} & set(found)
    assert not {"part", "mail", "0"} & set(found)


def test_pages_about_the_same_subject_are_more_similar(words: ForwardIndex, vectors: Vectors) -> None:
    same, other = page_similarities(words, vectors, 0, np.array([6, 12]))  # merging, then rebasing and sending mail
    assert same > other
    assert same <= 1.0 + 1e-5
    assert len(page_similarities(words, vectors, 0, np.array([], np.intp))) == 0


def test_a_text_that_begins_with_its_number_in_a_book_is_not_related(folder: Path) -> None:
    assert related(folder, "branches", [["4 Merging branches", "Rebasing branches"]]) == ["Rebasing branches"]
