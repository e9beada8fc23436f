"""A snippet shows the best passage, marks exactly the query words, and is short."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.search.match_positions import QueryWords
from periplus.search.snippet import Snippet, highlighted, make_snippet
from periplus.text.analyzer import terms

FILLER = "Nothing of interest is told in this sentence. " * 40


def snippet(text: str, query: str, fallback: str = "", language: str = "en") -> Snippet:
    return make_snippet(text, fallback, QueryWords(query, language))


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


def test_the_matching_passage_is_shown_wherever_it_stands() -> None:
    found = snippet(f"{FILLER}The old lighthouse stands on the reef. {FILLER}", "lighthouse reef")
    assert "The old lighthouse stands on the reef." in found.text
    assert found.text.startswith("… ")
    assert found.text.endswith(" …")
    assert marked(found) == ["lighthouse", "reef"]


def test_the_passage_with_most_words_of_the_query_wins() -> None:
    text = f"A lighthouse. {FILLER}A reef, a reef, a reef. {FILLER}A lighthouse on a reef. {FILLER}"
    assert "A lighthouse on a reef." in snippet(text, "lighthouse reef").text


def test_a_short_text_is_shown_whole() -> None:
    assert snippet("A lighthouse on a reef.", "reef").text == "A lighthouse on a reef."


def test_the_description_stands_in_where_the_text_does_not_match() -> None:
    assert snippet(FILLER, "reef", "About reefs.") == Snippet("About reefs.", ((6, 11),))
    assert snippet(FILLER, "reef").text.startswith("Nothing of interest")
    assert snippet("", "reef") == Snippet("", ())


def test_a_long_description_is_cut_between_words() -> None:
    found = snippet("", "reef", FILLER)
    assert len(found.text) <= 262
    assert found.text.endswith(" …")
    assert FILLER.startswith(found.text[:-2])
    assert FILLER[len(found.text) - 2] == " "


@pytest.mark.parametrize(
    ("query", "text", "words"),
    [
        ("run", "He ran. Running runs; runners RUN!", ["Running", "runs", "RUN"]),
        ("cry", "cry, cried, crying, crypt", ["cry", "cried", "crying"]),
        ("die", "die dying diet", ["die", "dying"]),
        ("use", "using a user's use", ["using", "use"]),
        ("happy", "happier unhappy happiness", ["happiness"]),
        ("cafe", "Café CAFÉ cafés", ["Café", "CAFÉ", "cafés"]),
        ("über", "uber Über übers", ["uber", "Über", "übers"]),
        ("bar", "foo_bar foo-bar bar_foo barfoo", ["bar", "bar", "bar"]),
        ("don't", "don't don t", ["don", "t", "don", "t"]),
        ("the lamp", "the lamp", ["lamp"]),
        ("c", "c++ C# abc", ["c", "C"]),
        ("привет", "Привет, мир", ["Привет"]),
        ('a.b"', "a.b A B", ["b", "B"]),
        ("(x|y)*", "x y z", ["x", "y"]),
    ],
)
def test_exactly_the_words_are_marked(query: str, text: str, words: list[str]) -> None:
    assert marked(highlighted(text, QueryWords(query, "en"))) == words


def test_the_words_of_another_language_are_marked_as_they_are() -> None:
    assert marked(snippet("the run runs", "the run", language="other")) == ["the", "run"]


def test_a_word_with_a_ligature_is_marked_when_the_query_has_it_too() -> None:
    assert marked(snippet("Die Straße am Œuvre", "straße œuvre", language="other")) == ["Straße", "Œuvre"]


def test_a_text_without_spaces_still_gives_a_snippet() -> None:
    found = snippet("北京" * 5_000 + " reef " + "東京" * 5_000, "reef")
    assert marked(found) == ["reef"]
    assert len(found.text) < 300


def test_a_match_far_down_is_found_and_one_too_far_is_not() -> None:
    assert marked(snippet("x " * 20_000 + "reef", "reef")) == ["reef"]
    assert marked(snippet("x " * 30_000 + "reef", "reef")) == []


def test_lines_and_tabs_become_spaces() -> None:
    assert snippet("A\n\n\tlighthouse \r\n on  a\u00a0reef", "reef").text == "A lighthouse on a reef"


words = st.sampled_from(["lighthouse", "reef", "reefs", "Sea", "the", "\n", "北京", "x" * 300, "a_b", "é", "."])


@settings(max_examples=200)
@given(st.lists(words, max_size=120).map(" ".join), st.lists(words, max_size=3).map(" ".join), st.text(max_size=50))
def test_highlights_are_words_of_the_query_in_order_and_the_snippet_is_short(
    text: str, query: str, fallback: str
) -> None:
    wanted = QueryWords(query, "en")
    found = make_snippet(text, fallback.encode("utf-8", "replace").decode(), wanted)
    assert len(found.text) < 700  # a passage, a word of 300 letters, two ellipses
    assert [end for _, end in found.highlights] == sorted(end for _, end in found.highlights)
    for word in marked(found):
        assert set(terms("en", word)) & wanted.distinct
    if wanted.found_in(text):
        assert found.highlights
