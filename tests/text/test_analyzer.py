"""A query is normalised exactly like a page, whatever the language of either."""

from __future__ import annotations

import json
import re
import string
import tarfile

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tantivy import Document, Index, Query, SchemaBuilder

from periplus.text.analyzer import (
    LANGUAGES,
    OTHER,
    analyzer_name,
    folded,
    language_of,
    register,
    start_of,
    terms,
    tokens,
    url_words,
)
from shared_data import shared

SUFFIXES = ["", "s", "es", "ed", "ing", "ies", "ied", "y", "ly", "ying", "eed", "edly", "ingly", "yed", "ys", "ization"]


@pytest.mark.parametrize(
    ("declared", "language"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("EN_us", "en"),
        ("", "en"),
        ("de", OTHER),
        ("de-AT", OTHER),
        ("zh-Hans", OTHER),
        ("x-default", OTHER),
        ("english", OTHER),
    ],
)
def test_a_page_goes_to_the_fields_of_the_language_it_declares(declared: str, language: str) -> None:
    assert language_of(declared) == language


@pytest.mark.parametrize(
    ("text", "english", "other"),
    [
        ("Running runners ran", ["run", "runner", "ran"], ["running", "runners", "ran"]),
        ("The cat of the house", ["cat", "hous"], ["the", "cat", "of", "the", "house"]),
        ("café CAFÉ naïve", ["cafe", "cafe", "naiv"], ["cafe", "cafe", "naive"]),
        ("foo-bar_baz.qux", ["foo", "bar", "baz", "qux"], ["foo", "bar", "baz", "qux"]),
        ("C++ and C#", ["c", "c"], ["c", "and", "c"]),
        ("don't", ["don", "t"], ["don", "t"]),
        ("straße", ["strass"], ["strasse"]),
        ("Привет 北京", ["привет", "北京"], ["привет", "北京"]),
        ("", [], []),
        ("!?…", [], []),
    ],
)
def test_words_are_split_folded_and_stemmed(text: str, english: list[str], other: list[str]) -> None:
    assert terms("en", text) == english
    assert terms(OTHER, text) == other


def test_an_overlong_word_is_skipped_and_leaves_a_gap() -> None:
    assert tokens("en", f"a {'x' * 64} b c") == [("b", 2), ("c", 3)]
    assert tokens(OTHER, f"{'x' * 63} b") == [("x" * 63, 0), ("b", 1)]


def test_stop_words_leave_gaps_in_the_positions() -> None:
    assert tokens("en", "the lord of the rings") == [("lord", 1), ("ring", 4)]


@given(st.sampled_from(LANGUAGES), st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@example("en", "ǅ ﬁ İstanbul ẞ a\u0301 हिन्दी ٣٤ ²")
def test_tokens_are_terms_with_positions(language: str, text: str) -> None:
    found = tokens(language, text)
    assert [token.term for token in found] == terms(language, text)
    places = [token.position for token in found]
    assert places == sorted(set(places))


def test_the_index_has_the_same_positions_as_tokens() -> None:
    texts = ["the quick brown fox", "quick the the brown", f"quick {'y' * 70} brown of a fox", "brown-quick_fox"]
    builder = SchemaBuilder()
    for language in LANGUAGES:
        builder.add_text_field(language, tokenizer_name=analyzer_name(language))
    schema = builder.build()
    index = Index(schema)
    register(index)
    writer = index.writer(15_000_000, 1)
    for text in texts:
        writer.add_document(Document(**dict.fromkeys(LANGUAGES, text)))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    for language in LANGUAGES:
        for text in texts:
            found = tokens(language, text)
            words = [(token.position - found[0].position, token.term) for token in found]
            hits = index.searcher().search(Query.phrase_query(schema, language, words), 10).hits  # type: ignore[arg-type]
            assert texts.index(text) in {address.doc for _, address in hits}


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.org/Caf%C3%A9_(place)?q=a+b", ["example", "org", "cafe", "place", "q", "a", "b"]),
        ("https://xn--bcher-kva.example/", ["xn", "bcher", "kva", "example"]),
        ("http://a.test/%FF%00", ["a", "test"]),
        ("http://a.test/100%25", ["a", "test", "100"]),
    ],
)
def test_the_words_of_a_url_are_percent_decoded(url: str, words: list[str]) -> None:
    assert terms(OTHER, url_words(url)) == words


def begins_right(word: str, language: str) -> bool:
    return all(folded(word).startswith(start_of(term, language)) for term in terms(language, word))


@given(st.text(string.ascii_letters, min_size=1, max_size=6), st.sampled_from(SUFFIXES), st.sampled_from(LANGUAGES))
@example("d", "ying", "en")
@example("cr", "y", "en")
@example("happ", "ily", "en")
@example("sk", "ies", "en")
def test_a_word_begins_like_its_stem(start: str, end: str, language: str) -> None:
    assert begins_right(start + end, language)


@pytest.mark.slow
def test_every_word_of_three_collections_begins_like_its_stem() -> None:
    words: set[str] = set()
    for name in ("cacm", "cranfield", "nfcorpus"):
        with tarfile.open(shared(f"ir/{name}.tar.xz")) as archive:
            documents = archive.extractfile("docs.jsonl")
            assert documents is not None
            for line in documents:
                words.update(re.findall(r"[^\W_]+", json.loads(line)["text"]))
    assert len(words) > 20_000
    assert [word for word in words if word.isascii() and not begins_right(word, "en")] == []


@given(st.text(max_size=80))
@example("İİ Ǆ ß ﬁ ŉ Kelvin K")
def test_folding_keeps_every_position(text: str) -> None:
    assert len(folded(text)) == len(text)


@given(st.text(st.characters(max_codepoint=0x17F), max_size=40))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert folded(folded(text)) == folded(text)


def test_folding_removes_case_and_accents() -> None:
    assert folded("Éclair ÜBER Ångström") == "eclair uber angstrom"
