"""A query finds exactly the pages that a scan of every word of every page finds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tantivy import Query

from periplus.config import Ranking
from periplus.index.schema import schema
from periplus.search.compile import Compiler
from periplus.search.engine import SearchEngine
from periplus.search.query import And, Not, Or, Phrase, Site, Word, parse_query
from search.brute import PageScan
from search.library import Doc, library, urls

WORDS = [
    "red",
    "blue",
    "running",
    "run",
    "cat",
    "café",
    "the",
    "of",
    "not",
    "to",
    "north-west",
    "x_1",
    "Über",
    "42",
    "C++",
    "die",
    "a.b",
]
HOSTS = ["a.test", "www.a.test", "b.test", "ba.test"]

text = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
docs = st.builds(
    Doc,
    url=st.builds(
        "http://{}/{}/{}".format,
        st.sampled_from(HOSTS),
        st.sampled_from(["", "red", "caf%C3%A9-of", "the_cat"]),
        st.uuids(),
    ),
    title=text,
    text=text,
    description=text,
    keywords=text,
    headings=st.lists(text, max_size=2).map(tuple),
    language=st.sampled_from(["en", "de", ""]),
)
word = st.sampled_from(WORDS)
phrase = st.lists(word, min_size=1, max_size=4).map(lambda words: f'"{" ".join(words)}"')
site = st.sampled_from([*HOSTS, "test", "c.test"]).map("site:{}".format)
queries = st.recursive(
    word | word | phrase | site,
    lambda inner: st.one_of(
        inner.map("-({})".format),
        inner.map("-{}".format),
        st.lists(inner, min_size=2, max_size=4).map(" ".join),
        st.lists(inner.map("({})".format), min_size=2, max_size=3).map(" OR ".join),
        st.lists(inner, min_size=2, max_size=3).map(" AND ".join),
        inner.map("({})".format),
    ),
    max_leaves=7,
)

FIXED = [
    Doc("http://a.test/red/1", "The red cat", "blue running the of", headings=("north west", "run")),
    Doc("http://www.a.test/2", "Run to the café", "not red", language="de"),
    Doc("http://b.test/the_cat/3", "x_1", "red blue red", description="cat of the running", keywords="blue, 42"),
    Doc("http://ba.test/caf%C3%A9-of/4", "", "running north the west 42 cat red", language="fr"),
    Doc("http://a.test/5", "Über blue", "cat the of red", headings=("red cat", "cat blue")),
    Doc("http://b.test/6", "the of", "to not", language="en"),
    Doc("http://b.test/7", "the of", "to not", language="xx"),
]


def found(engine: SearchEngine, query: str, mode: str) -> frozenset[str]:
    results = engine.search(query, mode=mode, size=1000)
    assert results.total == len(results.hits)
    return frozenset(urls(results))


def agree(engine: SearchEngine, scan: PageScan, query: str) -> None:
    root = parse_query(query).root
    for mode in ("and", "or"):
        expected = scan.found(root, mode) if root is not None else frozenset()
        assert found(engine, query, mode) == expected, (query, mode)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("fixed"), FIXED) as opened:
        yield opened


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries)
def test_a_query_finds_what_brute_force_finds(engine: SearchEngine, query: str) -> None:
    agree(engine, PageScan(FIXED), query)


@pytest.mark.slow
@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # a smaller failure costs minutes
@given(
    st.lists(docs, min_size=1, max_size=12, unique_by=lambda doc: doc.url), st.lists(queries, min_size=40, max_size=40)
)
def test_it_does_so_whatever_the_pages(pages: list[Doc], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home, library(Path(home), pages) as opened:
        scan = PageScan(pages)
        for query in asked:
            agree(opened, scan, query)


def test_a_heading_of_stop_words_keeps_its_neighbours_apart(tmp_path: Path) -> None:
    page = Doc("http://a.test/", description="café not", headings=("not to", "Über running café"), language="en")
    with library(tmp_path, [page]) as opened:
        for gap in ("", "to ", "to to ", "to to to ", "to to to to "):
            agree(opened, PageScan([page]), f'"café {gap}running"')


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cat -(-blue -running)", {"1", "3", "4", "5"}),  # a cat that is blue or running
        ("cat (the OR of)", {"1", "3", "4", "5"}),  # a stop word is ignored, in whatever place
        ("cat the", {"1", "3", "4", "5"}),
        ('"cat blue"', {"5"}),
        ('"cat of running"', set()),
        ('"cat of the"', {"3"}),
        ('"to not"', {"6", "7"}),
        ('"not to"', set()),
        ('red "the of"', {"1", "5"}),
        ('"running north the west"', {"4"}),
        ('"cat of the running"', {"3"}),
        ("north-west", {"1"}),
        ("run", {"1", "2", "3"}),
        ("running", {"1", "3", "4"}),
        ("red site:a.test", {"1", "2", "5"}),
        ("red site:www.a.test", {"2"}),
        ("red -site:a.test", {"3", "4"}),
        ("site:test -red", {"6", "7"}),
        ("(red cat) OR 42", {"1", "3", "4", "5"}),
        ("red OR (blue -cat)", {"1", "2", "3", "4", "5"}),
        ("café", {"2", "4"}),
        ("UBER", {"5"}),
        ("x-1", {"3"}),
        ("the of", {"1", "3", "4", "5", "6", "7"}),  # a query without another word
        ("cat -the", set()),
        ("cat -not", {"1", "3", "4", "5"}),
    ],
)
def test_what_some_queries_mean(engine: SearchEngine, query: str, expected: set[str]) -> None:
    agree(engine, PageScan(FIXED), query)
    assert {url.rpartition("/")[2] for url in found(engine, query, "and")} == expected


def test_nothing_to_look_for_is_no_query() -> None:
    compiler = Compiler(schema(["en"]), Ranking(), "en")
    assert compiler.compile(Word("!!")) is None
    assert compiler.compile(And((Word("-"), Phrase("…")))) is None
    assert compiler.compile(Not(Word("?"))) is None
    assert compiler.compile(Or((Word("!"), Not(Word("?"))))) is None
    assert isinstance(compiler.compile(Word("the")), Query)
    assert isinstance(compiler.compile(Site("a.test")), Query)


def test_a_field_without_weight_is_not_looked_at(tmp_path: Path) -> None:
    pages = [Doc("http://a.test/", "word", "nothing"), Doc("http://b.test/", "nothing", "word")]
    with library(tmp_path, pages, ranking__field_title=0.0) as opened:
        assert urls(opened.search("word", mode="and")) == ["http://b.test/"]
