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
    content_terms,
    folded,
    is_stop_word,
    language_of,
    register,
    start_of,
    terms,
    tokens,
    url_parts,
    url_words,
)
from periplus.text.unspaced import spaced
from shared_data import shared

SUFFIXES = ["", "s", "es", "ed", "ing", "ies", "ied", "y", "ly", "ying", "eed", "edly", "ingly", "yed", "ys", "ization"]


@pytest.mark.parametrize(
    ("declared", "language"),
    [
        ("en", "en"),
        ("en-GB", "en"),
        ("EN_us", "en"),
        ("", "en"),
        ("de", "de"),
        ("de-AT", "de"),
        ("nb-NO", "no"),
        ("nn", "no"),
        ("zh-Hans", OTHER),
        ("pl", OTHER),
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
        ("The cat of the house", ["the", "cat", "of", "the", "hous"], ["the", "cat", "of", "the", "house"]),
        ("café CAFÉ naïve", ["cafe", "cafe", "naiv"], ["cafe", "cafe", "naive"]),
        ("foo-bar_baz.qux", ["foo", "bar", "baz", "qux"], ["foo", "bar", "baz", "qux"]),
        ("C++ and C#", ["c", "and", "c"], ["c", "and", "c"]),
        ("don't", ["don", "t"], ["don", "t"]),
        ("straße", ["strass"], ["strasse"]),
        ("Привет 北京", ["привет", "北", "京"], ["привет", "北", "京"]),
        ("", [], []),
        ("!?…", [], []),
    ],
)
def test_words_are_split_folded_and_stemmed(text: str, english: list[str], other: list[str]) -> None:
    assert terms("en", text) == english
    assert terms(OTHER, text) == other


def test_an_overlong_word_is_skipped_and_leaves_a_gap() -> None:
    assert tokens("en", f"a {'x' * 51} b c") == [("a", 0), ("b", 2), ("c", 3)]
    assert tokens("en", f"{'x' * 50} b") == [("x" * 50, 0), ("b", 1)]


@pytest.mark.parametrize(("language", "letter"), [("de", "ü"), ("ru", "щ"), ("el", "ψ"), ("ta", "க"), (OTHER, "ж")])
def test_a_word_of_fifty_letters_is_found_whatever_its_alphabet(language: str, letter: str) -> None:
    assert len(terms(language, letter * 50)) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_of_many_letters_is_no_term(language: str) -> None:
    assert terms(language, "x" * 151) == []


@pytest.mark.parametrize(
    ("language", "one", "another"),
    [
        ("en", "harbours", "harbour"),
        ("de", "Haus", "Häuser"),
        ("fr", "cheval", "chevaux"),
        ("es", "canción", "canciones"),
        ("it", "ragazzo", "ragazzi"),
        ("pt", "informação", "informações"),
        ("nl", "huis", "huizen"),
        ("ru", "книга", "книгами"),
        ("sv", "flicka", "flickorna"),
        ("da", "dreng", "drengene"),
        ("no", "gutt", "guttene"),
        ("fi", "talo", "talossa"),
        ("hu", "könyv", "könyvek"),
        ("ro", "oraș", "orașe"),
        ("tr", "kitap", "kitaplar"),
        ("ar", "مدرسة", "المدرسة"),
        ("el", "άνθρωπος", "άνθρωποι"),
        ("ta", "புத்தகம்", "புத்தகங்கள்"),
    ],
)
def test_two_forms_of_a_word_find_each_other(language: str, one: str, another: str) -> None:
    assert terms(language, one) == terms(language, another)
    assert len(terms(language, one)) == 1


@pytest.mark.parametrize(
    ("language", "written", "typed"),
    [
        ("de", "Häuser", "Hauser"),
        ("de", "Straße", "strasse"),
        ("fr", "élèves", "eleves"),
        ("es", "canción", "cancion"),
        ("pt", "canção", "cancao"),
        ("hu", "könyvek", "konyvek"),
        ("ro", "cărți", "cărţi"),
        ("ro", "cărți", "carti"),
        ("tr", "İstanbul", "istanbul"),
        ("ru", "ёлка", "елка"),
        ("el", "βιβλίο", "βιβλιο"),
        ("en", "cafe\u0301", "cafe"),
        (OTHER, "\uff23afe\u0301", "café"),
    ],
)
def test_a_word_is_found_without_its_accents(language: str, written: str, typed: str) -> None:
    assert terms(language, written) == terms(language, typed)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "the of and"),
        ("de", "der die das"),
        ("ru", "и в на"),
        ("ro", "și de la"),
        ("tr", "ve bir için"),
        ("ar", "في من على"),
        ("el", "και το ΤΗΣ"),
        ("ta", "ஒரு மற்றும்"),
    ],
)
def test_articles_and_prepositions_are_stop_words(language: str, text: str) -> None:
    assert is_stop_word(language, text)
    assert content_terms(language, text) == []
    assert len(terms(language, text)) == len(text.split())  # and yet indexed, for phrases
    assert not is_stop_word(OTHER, text)


def test_stop_words_keep_their_places() -> None:
    assert tokens("en", "lord of the rings") == [("lord", 0), ("of", 1), ("the", 2), ("ring", 3)]
    assert content_terms("en", "the lord of the rings") == ["lord", "ring"]


@given(st.sampled_from(LANGUAGES), st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
@example("en", "ǅ ﬁ İstanbul ẞ a\u0301 हिन्दी ٣٤ ²")
def test_tokens_are_terms_with_positions(language: str, text: str) -> None:
    found = tokens(language, text)
    assert [token.term for token in found] == terms(language, text)
    places = [token.position for token in found]
    assert places == sorted(set(places))


def test_the_index_has_the_same_positions_as_tokens() -> None:
    texts = [
        "the quick brown fox",
        "quick the the brown",
        f"quick {'y' * 70} brown of a fox",
        "brown-quick_fox",
        "東京 quick京都",
    ]
    builder = SchemaBuilder()
    for language in LANGUAGES:
        builder.add_text_field(language, tokenizer_name=analyzer_name(language))
    schema = builder.build()
    index = Index(schema)
    register(index)
    writer = index.writer(15_000_000, 1)
    for text in texts:
        writer.add_document(Document(**dict.fromkeys(LANGUAGES, spaced(text))))
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


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://example.org/docs/Merge-Commits.html", ["example.org", "docs", "Merge-Commits"]),
        ("http://example.org/docs/index.html", ["example.org", "docs", ""]),
        ("http://example.org/", ["example.org", ""]),
        ("http://example.org/a.b/c.tar.gz?x=1", ["example.org", "a.b", "c.tar.gz?x=1"]),
        ("http://example.org/caf%C3%A9.PHP", ["example.org", "café"]),
    ],
)
def test_a_url_has_parts(url: str, parts: list[str]) -> None:
    assert url_parts(url) == parts


def begins_right(word: str, language: str) -> bool:
    return all(folded(word).startswith(start_of(term, language)) for term in terms(language, word))


@given(st.text(string.ascii_letters, min_size=1, max_size=6), st.sampled_from(SUFFIXES), st.sampled_from(LANGUAGES))
@example("d", "ying", "en")
@example("cr", "y", "en")
@example("happ", "ily", "en")
@example("sk", "ies", "en")
@example("Häus", "er", "de")
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
