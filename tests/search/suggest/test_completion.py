"""What a reader begins to type is completed from titles, headings, anchor texts and words."""

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.search.suggest.completion import Completer
from search.library import Doc, give_ranks, index, shelve
from search.made_words import made_generation


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_generation(tmp_path_factory.mktemp("completion") / "home")


@pytest.fixture
def completer(folder: Path) -> Completer:
    return Completer.open(folder)


def texts(completer: Completer, prefix: str, most: int = 8) -> list[str]:
    return [suggestion.text for suggestion in completer.complete(prefix, most)]


def test_a_title_is_completed_with_its_capitals(completer: Completer) -> None:
    first, second = completer.complete("hash ta")
    assert (first.text, first.source) == ("Hash Tables", "title")
    assert (second.text, second.source) == ("Hash tables in Python", "heading")
    assert first.weight > second.weight


def test_any_word_of_a_title_may_be_typed_first(completer: Completer) -> None:
    assert texts(completer, "imagem") == ["mogrify - ImageMagick", "imagemagick"]


def test_a_title_that_begins_with_the_typed_text_comes_first(completer: Completer) -> None:
    found = texts(completer, "match")
    assert found[0].startswith("Matching number")
    assert "Pattern Matching" in texts(completer, "match", 20)


def test_accents_capitals_and_punctuation_do_not_count(completer: Completer) -> None:
    assert texts(completer, "CAFE Au") == ["Café au lait"]
    assert texts(completer, "mogrify im") == ["mogrify - ImageMagick"]


def test_words_may_be_typed_in_another_order(completer: Completer) -> None:
    assert texts(completer, "matching patt") == ["Pattern Matching"]
    assert texts(completer, "python hash") == ["Hash tables in Python"]


def test_a_single_word_is_completed_from_the_vocabulary(completer: Completer) -> None:
    found = {suggestion.text: suggestion.source for suggestion in completer.complete("expl")}
    assert found == {"explained": "word"}


def test_what_is_typed_already_is_not_suggested(completer: Completer) -> None:
    assert "Hash Tables" not in texts(completer, "hash tables")
    assert texts(completer, "zzz") == []
    assert [completer.complete(prefix) for prefix in ("", " ", "...", "\0")] == [[]] * 4


def test_at_most_the_wanted_number_is_suggested_each_once(completer: Completer) -> None:
    found = texts(completer, "d", 3)
    assert len(found) == len(set(found)) == 3
    assert texts(completer, "d", 0) == []


def test_scripts_without_spaces_are_completed(completer: Completer) -> None:
    assert texts(completer, "レイ") == ["レイヤーマスク"]


def test_a_page_that_many_link_to_is_suggested_first(tmp_path: Path) -> None:
    docs = [Doc(f"http://a.test/{name}", title=f"Harbour {name}", text=name) for name in ("aaa", "zzz")]
    collection = shelve(tmp_path / "home", docs)
    give_ranks(collection, {"http://a.test/aaa": 1.0, "http://a.test/zzz": 50.0})
    index(collection)
    completer = Completer.open(collection.index / "gen-000001")
    assert texts(completer, "harb")[:2] == ["Harbour zzz", "Harbour aaa"]


def test_a_very_long_text_is_read_in_part(completer: Completer) -> None:
    assert texts(completer, "hash" + " " * 95 + "t" + "z" * 20)[0] == "Hash Tables"


def test_a_generation_of_an_earlier_release_completes_words(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "forward").symlink_to(folder / "forward")
    assert texts(Completer.open(tmp_path), "expl") == ["explained"]
