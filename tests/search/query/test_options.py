"""A minus before a word excludes it, unless the pages write the word as an option."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.search.engine import SearchEngine
from periplus.search.query.options import read_options
from periplus.search.query.parser import parse_query
from periplus.search.query.tree import Node
from search.library import Doc, library, urls

PAGES = [
    Doc("http://a.test/", "mplayer", "Choose the driver of mplayer with -vo. The option -vo takes a name."),
    Doc("http://b.test/", "mplayer video", "A video file for mplayer, and its vo."),
    Doc("http://c.test/", "mogrify", "The command mogrify changes images."),
    Doc("http://d.test/", "convert", "Use convert -resize to change the size."),
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("options"), PAGES) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "found", "excluded"),
    [
        ("mplayer -vo", ["http://a.test/"], ()),
        ("mplayer -video", ["http://a.test/"], ("video",)),
        ('mplayer -"vo"', [], ('"vo"',)),
        ("mplayer -unseen", ["http://a.test/", "http://b.test/"], ("unseen",)),
        ("changes -mogrify", ["http://d.test/"], ("mogrify",)),
    ],
)
def test_a_minus_excludes_a_word_but_not_an_option(
    engine: SearchEngine, query: str, found: list[str], excluded: tuple[str, ...]
) -> None:
    results = engine.search(query, mode="and")
    assert sorted(urls(results)) == found
    assert results.excluded == excluded
    assert bool(results.hints) is (query == "mplayer -vo")


def test_all_pages_decide_when_no_page_with_the_other_words_has_the_word(engine: SearchEngine) -> None:
    results = engine.search("mogrify -resize")
    assert results.understood == 'mogrify "-resize"'
    assert sorted(urls(results)) == ["http://c.test/", "http://d.test/"]
    assert 'Searched for the option -resize, because pages write it so. -"resize" excludes the word.' in results.hints


@pytest.mark.parametrize("query", ["a", "-a", "a OR -b", 'a -"b" -(c d) -site:x.test', ""])
def test_a_query_without_such_a_word_is_not_looked_up(query: str) -> None:
    def count(node: Node) -> int:
        raise AssertionError(node)

    assert read_options(parse_query(query), count) == parse_query(query)


def test_only_so_many_words_are_looked_up() -> None:
    asked: list[str] = []

    def count(node: Node) -> int:
        asked.append(str(node))
        return 1

    read_options(parse_query("word " + " ".join(f"-word{number}" for number in range(60))), count)
    assert len(asked) == 8
