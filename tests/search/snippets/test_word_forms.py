"""Query words are found in a text in every form that pages spell, and only there."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.index.forward.forward_index import ForwardIndex
from periplus.search.snippets.word_forms import WordForms
from periplus.text.analyzer import content_terms, terms
from search.library import Doc, index, shelve

TEXTS = {
    "en": "run Running runner cry cries cried crying die dying happy happily happiness the a C x1 café Café cafés uber "
    "Über use using user lamp bar foo don t b X y z straße Œuvre",
    "de": "Häuser Haus Über die Straße läuft laufen",
    "ru": "книгами книга Привет мир",
    "ar": "إلى المدرسة مدرسة",
    "ta": "புத்தகங்கள் நல்ல புத்தகம்",
    "ja": "大東京市と京都 ファイルを削除する方法。除草 C言語",
    "ko": "한국어는 한국",
}


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> ForwardIndex:
    docs = [Doc(f"http://{language}.test/", "", text, language=language) for language, text in TEXTS.items()]
    collection = shelve(tmp_path_factory.mktemp("forms"), docs)
    index(collection)
    (folder,) = collection.index.glob("gen-*")
    return ForwardIndex(folder)


def marked(text: str, query: str, language: str, index: ForwardIndex) -> list[str]:
    found = WordForms(query.split(), language, index).matches(text)
    return [text[match.start : match.end] for match in found]


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("run", "He ran. Running runs; runners RUN!", ["Running", "RUN"]),  # no page spells "runs"
        ("cry", "cry, cried, crying, crypt", ["cry", "cried", "crying"]),
        ("die", "die dying diet", ["die", "dying"]),
        ("use", "using a user's use", ["using", "use"]),
        ("happy", "happier unhappy happiness", ["happiness"]),
        ("cafe", "Café CAFÉ cafés", ["Café", "CAFÉ", "cafés"]),
        ("über", "uber Über", ["uber", "Über"]),
        ("bar", "foo_bar foo-bar bar_foo barfoo", ["bar", "bar", "bar"]),
        ("don't", "don't don t", ["don", "t", "don", "t"]),
        ("the lamp", "the lamp", ["lamp"]),
        ("the", "the lamp", ["the"]),
        ("c", "c++ C# abc", ["c", "C"]),
        ("c++", "c++ C# abc C++11 (C++)", ["c++", "C++"]),
        ("-Wall", "the wall of gcc -Wall", ["-Wall"]),
        ("std::map", "a std::map of maps", ["std", "map"]),
        ("unseen", "Unseen words", ["Unseen"]),
        ("c café", "c, café", ["c", "café"]),
        ("run", "東京run", ["run"]),
        ("(x|y)*", "x y z", ["x", "y"]),
        ("", "x y z", []),
    ],
)
def test_exactly_the_words_are_found(spoken: ForwardIndex, query: str, text: str, words: list[str]) -> None:
    assert marked(text, query, "en", spoken) == words


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("東京", "大東京市と京都", ["東京"]),
        ("ファイルの削除方法", "ファイルを削除する方法。除草", ["ファイル", "削除", "方法"]),
        ("C言語", "C言語とc", ["C", "言語", "c"]),
        ("한국어", "한국어는 한국", ["한국", "한국"]),
        ("مدرسة", "إلى المدرسة", ["المدرسة"]),
        ("புத்தகம்", "புத்தகங்கள் நல்ல", ["புத்தகங்கள்"]),
        ("книга", "Книгами", ["Книгами"]),
        ("haus", "Zwei Häuser", ["Häuser"]),
    ],
)
def test_words_are_found_in_every_script(spoken: ForwardIndex, query: str, text: str, words: list[str]) -> None:
    language = {"م": "ar", "ப": "ta", "к": "ru", "h": "de"}.get(query[0], "other")
    assert marked(text, query, language, spoken) == words


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(TEXTS["en"].split()), max_size=3).map(" ".join),
    st.lists(st.sampled_from([*TEXTS["en"].split(), ".", "\n", "(", "_", "foo_run", "rerun"]), max_size=30).map(
        " ".join
    ),
)
def test_that_is_what_an_analysis_of_every_word_finds(spoken: ForwardIndex, query: str, text: str) -> None:
    wanted = content_terms("en", query) or terms("en", query)
    analyse = content_terms if content_terms("en", query) else terms
    expected = [word[0] for word in re.finditer(r"[^\W_]+", text) if {*analyse("en", word[0])} & {*wanted}]
    assert marked(text, query, "en", spoken) == expected


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=40), st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_any_text_can_be_searched(spoken: ForwardIndex, query: str, text: str) -> None:
    found = WordForms(query.encode("utf-8", "replace").decode().split(), "en", spoken).matches(text)
    assert found == sorted(found)
    assert all(0 <= match.start < match.end <= len(text) for match in found)


def test_a_part_of_a_text_has_its_positions_in_the_whole(spoken: ForwardIndex) -> None:
    forms = WordForms(["lamp", "c++"], "en", spoken)
    assert forms.matches("lamp lamp C++ lamp", 4, 14) == forms.matches("lamp lamp C++ lamp")[1:3]


def test_a_text_full_of_one_word_takes_no_longer(spoken: ForwardIndex) -> None:
    assert len(WordForms(["run"], "en", spoken).matches("run " * 10_000)) == 200
