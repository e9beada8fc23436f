"""A snippet shows the best sentences of a page, marks exactly the query words, and is short."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.storage.pagestore import Head
from periplus.search.snippets.snippet import Shown, Snippet, make_snippets
from periplus.text.analyzer import terms
from search.library import Doc, index, shelve

FILLER = "Nothing of interest is told in this sentence. " * 5
PARAGRAPHS = f"{FILLER}\n" * 30  # 7 kB: longer than a text that is searched as a whole
Make = Callable[..., Snippet]


@pytest.fixture
def snippet(tmp_path: Path) -> Make:
    """Makes the snippet of a page in an index that has this page only."""

    def make(text: str, *query: str, description: str = "", title: str = "", language: str = "en") -> Snippet:
        home = tmp_path / str(len(list(tmp_path.iterdir())))
        collection = shelve(home, [Doc("http://a.test/", title, text, description, language=language)])
        index(collection)
        (folder,) = collection.index.glob("gen-*")
        page = Shown(0, Head(title=title, description=description, language=language), text)
        return make_snippets([page], query, ForwardIndex(folder))[0]

    return make


def marked(found: Snippet) -> list[str]:
    return [found.text[start:end] for start, end in found.highlights]


@pytest.mark.parametrize("before", ["", PARAGRAPHS, PARAGRAPHS * 5])
def test_the_matching_sentence_is_shown_wherever_it_stands(snippet: Make, before: str) -> None:
    text = f"{before}{FILLER}The old lighthouse stands on the reef. {FILLER}\n{PARAGRAPHS}"
    found = snippet(text, "lighthouse", "reef")
    assert found.text.startswith("The old lighthouse stands on the reef. Nothing of interest")
    assert found.text.endswith(" …")
    assert marked(found) == ["lighthouse", "reef"]


def test_the_passage_with_most_words_of_the_query_wins(snippet: Make) -> None:
    text = f"A lighthouse. {FILLER}\nA reef, a reef, a reef. {FILLER}\n{PARAGRAPHS}A lighthouse on a reef. {FILLER}"
    assert snippet(text, "lighthouse", "reef").text.startswith("A lighthouse on a reef.")


def test_a_rare_word_counts_more_than_a_frequent_one(snippet: Make) -> None:
    text = f"Nothing beats a sentence like this one about interest. {FILLER}\nThe reef is told of here, once. {FILLER}"
    assert snippet(text, "sentence", "reef").text.startswith("The reef")


def test_two_passages_are_shown_when_they_have_more_of_the_query_together(snippet: Make) -> None:
    text = f"Old towers\n{FILLER}\nThe lighthouse is white.\n{FILLER}\nA reef is a bar of rock or coral.\n{FILLER}"
    found = snippet(text, "lighthouse", "reef")
    assert found.text == "The lighthouse is white. … A reef is a bar of rock or coral."
    assert marked(found) == ["lighthouse", "reef"]


def test_a_heading_is_shown_with_the_prose_below_it(snippet: Make) -> None:
    text = f"Menu\nThe reef\nCoral grows in warm and shallow water, where the sun reaches the ground.\n{FILLER}"
    found = snippet(text, "reef")
    assert found.text == "The reef … Coral grows in warm and shallow water, where the sun reaches the ground."


def test_prose_is_shown_rather_than_menus_and_code(snippet: Make) -> None:
    text = (
        "Home » Reefs » Reef | Next → reef\n"
        "reef = Reef(reef_id=1); if (reef[0] == &reefs) { return *reef; }\n"
        "A reef is a ridge of rock, coral or sand near the surface of the sea.\n"
    )
    assert snippet(text, "reef").text == "A reef is a ridge of rock, coral or sand near the surface of the sea."
    assert snippet(text + PARAGRAPHS, "reef").text.startswith("A reef is a ridge of rock")


def test_the_title_is_not_repeated(snippet: Make) -> None:
    text = "The reef\nCorals build a reef in a thousand years, and it needs clear water.\n"
    assert snippet(text, "reef", title="The reef").text.startswith("Corals build a reef")


@pytest.mark.parametrize(
    "noise",
    ["Reefs¶", "Reefs [source]", "Reefs[edit]", "Reefs §", "Reefs#", "Reefs Permalink to this heading", "Reefs 🔗"],
)
def test_signs_of_documentation_tools_are_left_out(snippet: Make, noise: str) -> None:
    found = snippet(f"{noise}\nCoral grows in warm and shallow water, where the sun reaches the ground.", "reefs")
    assert found.text.startswith("Reefs … Coral grows")


def test_a_number_sign_of_a_word_stays(snippet: Make) -> None:
    assert snippet("Reefs in C#\n" + FILLER, "reefs").text.startswith("Reefs in C# …")


def test_a_short_text_is_shown_whole(snippet: Make) -> None:
    assert snippet("A lighthouse on a reef.", "reef").text == "A lighthouse on a reef."


def test_a_sentence_that_is_too_long_is_cut_before_the_match(snippet: Make) -> None:
    found = snippet("word " * 100 + "reef" + " word" * 100, "reef")
    assert found.text.startswith("… word word")
    assert 2 * len(found.text) > 262
    assert len(found.text) <= 264
    assert marked(found) == ["reef"]


def test_the_description_is_shown_when_it_has_more_of_the_query(snippet: Make) -> None:
    text = "A reef is a ridge of rock, coral or sand near the surface of the sea, and ships avoid it."
    told = "All about the lighthouse on the reef."
    assert snippet(text, "reef", "lighthouse", description=told) == Snippet(told, ((14, 24), (32, 36)))
    assert snippet(text, "reef", description=told).text == text
    assert snippet(FILLER, "reef", description="About reefs.") == Snippet("About reefs.", ((6, 11),))


def test_a_page_that_matches_elsewhere_shows_its_description_or_its_first_prose(snippet: Make) -> None:
    assert snippet(f"Home\nMenu\n{FILLER}", "reef").text.startswith("Nothing of interest")
    assert snippet(f"Home\n{FILLER}", "reef", description="A page.").text == "A page."
    assert snippet("Home", "reef").text == "Home"
    assert snippet("", "reef") == Snippet("", ())
    assert snippet(f"Home\n{FILLER}").text.startswith("Nothing of interest")  # site: alone


def test_a_long_description_is_cut_between_words(snippet: Make) -> None:
    found = snippet("", "reef", description=FILLER * 9)
    assert len(found.text) <= 262
    assert found.text.endswith(" …")
    assert (FILLER * 9).startswith(found.text[:-2])


def test_a_text_without_spaces_still_gives_a_snippet(snippet: Make) -> None:
    found = snippet("北京" * 5_000 + " reef " + "東京" * 5_000, "reef")
    assert marked(found) == ["reef"]
    assert len(found.text) < 300


def test_a_match_beyond_the_forward_index_is_found_and_one_too_far_is_not(snippet: Make) -> None:
    assert marked(snippet("x " * 20_000 + "reef", "reef")) == ["reef"]
    assert marked(snippet("x " * 30_000 + "reef", "reef")) == []


def test_lines_and_tabs_become_spaces(snippet: Make) -> None:
    assert snippet("A\tlighthouse \r on  a\u00a0reef", "reef").text == "A lighthouse on a reef"


def test_pages_of_several_languages_have_their_own_words(tmp_path: Path) -> None:
    texts = {
        "de": "Die Häuser am Meer sind weiß.",
        "en": "Haus is a German word.",
        "ja": "港でファイルを削除する方法。",
    }
    docs = [Doc(f"http://{language}.test/", "", text, language=language) for language, text in texts.items()]
    collection = shelve(tmp_path, docs)
    index(collection)
    (folder,) = collection.index.glob("gen-*")
    pages = [Shown(number, Head(language=one), text) for number, (one, text) in enumerate(texts.items())]
    found = make_snippets(pages, ["haus", "ファイル"], ForwardIndex(folder))
    assert [marked(one) for one in found] == [["Häuser"], ["Haus"], ["ファイル"]]


words = st.sampled_from(["lighthouse", "reef", "reefs", "Sea", "the", "\n", "北京", "x" * 300, "a_b", "é", "."])


@pytest.fixture(scope="module")
def reefs(tmp_path_factory: pytest.TempPathFactory) -> ForwardIndex:
    collection = shelve(
        tmp_path_factory.mktemp("reefs"), [Doc("http://a.test/", "", "lighthouse reef reefs sea the a b é")]
    )
    index(collection)
    (folder,) = collection.index.glob("gen-*")
    return ForwardIndex(folder)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(words, max_size=120).map(" ".join), st.lists(words, max_size=3), st.text(max_size=50))
def test_highlights_are_words_of_the_query_in_order_and_the_snippet_is_short(
    reefs: ForwardIndex, text: str, query: list[str], description: str
) -> None:
    head = Head(description=description.encode("utf-8", "replace").decode(), language="en")
    (found,) = make_snippets([Shown(0, head, text)], query, reefs)
    assert len(found.text) < 700  # a passage, a word of 300 letters, two ellipses
    assert list(found.highlights) == sorted(found.highlights)
    wanted = {term for word in query for term in terms("en", word)}
    for word in marked(found):
        assert set(terms("en", word)) & wanted
