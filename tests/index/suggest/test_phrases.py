"""Titles, headings and anchor texts are found by the beginning of any of their words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from periplus.errors import DamagedFile
from periplus.index.suggest import phrases as phrases_module
from periplus.index.suggest.phrases import FOLDER, Phrases, Source, cleaned
from search.library import Doc, give_ranks, index, shelve
from search.made_words import made_generation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_generation(tmp_path_factory.mktemp("phrases") / "home")


@pytest.fixture
def phrases(folder: Path) -> Phrases:
    return Phrases(folder)


def found(phrases: Phrases, prefix: str) -> set[str]:
    return {phrases.text(number) for number in phrases.beginning(prefix)[0].tolist()}


def test_a_phrase_is_found_by_the_beginning_of_any_word(phrases: Phrases) -> None:
    assert found(phrases, "hash ta") == {"Hash Tables", "Hash tables in Python"}
    assert found(phrases, "tables in py") == {"Hash tables in Python"}
    assert found(phrases, "able") == set()


def test_accents_and_capitals_do_not_count_but_the_page_keeps_its_own(phrases: Phrases) -> None:
    assert found(phrases, "cafe") == {"Café au lait"}
    assert found(phrases, "imagemagick") == {"mogrify - ImageMagick"}


def test_a_space_ends_the_last_word(phrases: Phrases) -> None:
    assert found(phrases, "pattern ") == {"Pattern Matching"}
    assert found(phrases, "patter ") == set()


def test_text_without_spaces_is_found_by_its_first_characters(phrases: Phrases) -> None:
    assert found(phrases, "レ イ") == {"レイヤーマスク"}


def test_the_words_before_are_part_of_the_place(phrases: Phrases) -> None:
    numbers, places = phrases.beginning("matching")
    assert {(phrases.text(number), place) for number, place in zip(numbers.tolist(), places.tolist(), strict=True)} >= {
        ("Pattern Matching", 1),
        ("Matching number 3", 0),
    }


def test_a_heading_is_shown_without_its_number(phrases: Phrases) -> None:
    assert found(phrases, "guard") == {"Guards"}
    assert [cleaned(text) for text in ("3.1. Guards", "2.10 Links ¶", "Git#", "2048 game", "C# 3.")] == [
        "Guards",
        "Links",
        "Git",
        "2048 game",
        "C# 3.",
    ]


def test_a_phrase_knows_its_field_and_is_recognised_as_a_whole(phrases: Phrases) -> None:
    sources = {phrases.text(number): phrases.source(number) for number in range(len(phrases))}
    assert (sources["Hash Tables"], sources["Hash tables in Python"]) == (Source.TITLE, Source.HEADING)
    assert "hash tables" in phrases
    assert not [text for text in ("tables", "hash", "hash tables in", "zzz", "") if text in phrases]


def test_a_heading_of_very_many_pages_names_none_of_them(tmp_path: Path) -> None:
    docs = [
        Doc(f"http://a.test/{number}", title=f"Page {number}", headings=("See also",), text=f"text {number}")
        for number in range(8)
    ]
    collection = shelve(tmp_path / "home", docs)
    index(collection)
    assert not found(Phrases(collection.index / "gen-000001"), "see")


def test_a_phrase_of_a_page_that_many_link_to_weighs_more(tmp_path: Path) -> None:
    docs = [Doc(f"http://a.test/{name}", title=f"Harbour {name}", text=name) for name in ("low", "high")]
    collection = shelve(tmp_path / "home", docs)
    give_ranks(collection, {"http://a.test/low": 1.0, "http://a.test/high": 50.0})
    index(collection)
    phrases = Phrases(collection.index / "gen-000001")
    weights = {phrases.text(number): float(phrases.weights[number]) for number in range(len(phrases))}
    assert weights["Harbour high"] > weights["Harbour low"] + 3


def test_no_more_phrases_are_stored_than_memory_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phrases_module, "MOST_PHRASES", 5)
    docs = [Doc(f"http://a.test/{number}", title=f"Page {number}", text=f"text {number}") for number in range(8)]
    collection = shelve(tmp_path / "home", docs)
    index(collection)
    assert len(Phrases(collection.index / "gen-000001")) == 5


def test_a_long_text_is_no_phrase(tmp_path: Path) -> None:
    docs = [Doc("http://a.test/", title="harbour " * 11, headings=("1 2 3", "a" * 90), text="x")]
    collection = shelve(tmp_path / "home", docs)
    index(collection)
    assert len(Phrases(collection.index / "gen-000001")) == 0


def test_a_generation_of_an_earlier_release_has_no_phrases(tmp_path: Path) -> None:
    phrases = Phrases(tmp_path)
    assert (len(phrases), found(phrases, "a"), "a" in phrases) == (0, set(), False)


def test_an_entry_of_a_phrase_that_does_not_exist_is_damage(folder: Path) -> None:
    path = folder / FOLDER / "entries.npy"
    whole = path.read_bytes()
    np.save(path, np.full_like(np.load(path), 10_000))
    try:
        with pytest.raises(DamagedFile, match=r"entries\.npy is damaged"):
            Phrases(folder)
    finally:
        path.write_bytes(whole)
