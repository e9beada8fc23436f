"""A query finds exactly the pages that a scan of every word of every page finds."""

from __future__ import annotations

import itertools
import json
import random
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tantivy import Query

from parse.documents import parsed, real_pages
from periplus.config import Ranking
from periplus.index.documents.schema import field, schema
from periplus.search.engine import SearchEngine
from periplus.search.open_index import OpenIndex
from periplus.search.query.compile import Compiler
from periplus.search.query.parser import parse_query
from periplus.search.query.tree import And, Field, Node, Not, Or, Phrase, Site, Word, loosened, wanted_words
from periplus.search.query_language import QueryLanguage, query_language
from periplus.search.scoring.candidates import CandidateFinder
from periplus.text.unspaced import spaced
from search.brute import PageScan
from search.library import Doc, library, urls
from shared_data import shared

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
    mime=st.sampled_from(["text/html", "application/pdf"]),
    at=st.sampled_from([1_600_000_000.0, 1_700_000_000.0]),
)
word = st.sampled_from(WORDS)
phrase = st.lists(word, min_size=1, max_size=4).map(lambda words: f'"{" ".join(words)}"')
site = st.sampled_from([*HOSTS, "test", "c.test", "a.test/red", "b.test/the_cat/"]).map("site:{}".format)
dates = st.sampled_from(["before:2022", "after:2021-05", "before:2023-11-14", "after:2023-11-15"])
properties = dates | st.sampled_from(["filetype:pdf", "lang:de", "lang:english", "inurl:red", "inurl:the_cat"])
titles = (word | phrase).map("intitle:{}".format)
queries = st.recursive(
    word | word | phrase | site | titles | properties | word.map("+{}".format),
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


def stop_words(engine: SearchEngine, root: Node) -> frozenset[str]:
    return query_language(wanted_words(root), engine.counts).ignored


def agree(engine: SearchEngine, pages: Sequence[Doc], scan: PageScan, query: str) -> None:
    root = parse_query(query).root
    for mode in ("and", "or"):
        expected = scan.found(root, mode, stop_words(engine, root)) if root is not None else frozenset()
        assert found(engine, query, mode) == expected, (query, mode)


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    with library(tmp_path_factory.mktemp("fixed"), FIXED) as opened:
        yield opened


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=queries)
def test_a_query_finds_what_brute_force_finds(engine: SearchEngine, query: str) -> None:
    agree(engine, FIXED, PageScan(FIXED), query)


@pytest.mark.slow
@settings(max_examples=15, phases=[Phase.explicit, Phase.reuse, Phase.generate])  # a smaller failure costs minutes
@given(
    st.lists(docs, min_size=1, max_size=12, unique_by=lambda doc: doc.url), st.lists(queries, min_size=40, max_size=40)
)
def test_it_does_so_whatever_the_pages(pages: list[Doc], asked: list[str]) -> None:
    with tempfile.TemporaryDirectory() as home, library(Path(home), pages) as opened:
        scan = PageScan(pages)
        for query in asked:
            agree(opened, pages, scan, query)


def test_a_heading_of_stop_words_keeps_its_neighbours_apart(tmp_path: Path) -> None:
    page = Doc("http://a.test/", description="café not", headings=("not to", "Über running café"), language="en")
    with library(tmp_path, [page]) as opened:
        for gap in ("", "to ", "to to ", "to to to ", "to to to to "):
            agree(opened, [page], PageScan([page]), f'"café {gap}running"')


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
        ("cat +the", {"1", "3", "4", "5"}),
        ("red +not", {"2"}),
        ("intitle:cat", {"1"}),
        ('intitle:"the red"', {"1"}),
        ('intitle:"red the"', set()),
        ("red -intitle:blue", {"1", "2", "3", "4"}),
        ("inurl:cat", {"3"}),
        ("inurl:the_cat red", {"3"}),
        ("red lang:de", {"2"}),
        ("red -lang:English", {"2", "4"}),
        ("site:a.test/red", {"1"}),
        ("site:b.test/the_cat/3", {"3"}),
        ("filetype:pdf", set()),
        ("cat filetype:htm", {"1", "3", "4", "5"}),
        ("42 before:2023-11-15", {"3", "4"}),  # crawled on 14 November 2023
        ("42 before:2023-11-14", set()),
        ("42 after:2023-11-14", {"3", "4"}),
        ("42 after:2023-11-15", set()),
    ],
)
def test_what_some_queries_mean(engine: SearchEngine, query: str, expected: set[str]) -> None:
    agree(engine, FIXED, PageScan(FIXED), query)
    assert {url.rpartition("/")[2] for url in found(engine, query, "and")} == expected


def test_nothing_to_look_for_is_no_query() -> None:
    compiler, none = Compiler(schema(["en"]), Ranking(), "en"), frozenset[str]()
    assert compiler.compile(Word("!!"), none) is None
    assert compiler.compile(And((Word("-"), Phrase("…"))), none) is None
    assert compiler.compile(Not(Word("?")), none) is None
    assert compiler.compile(Or((Word("!"), Not(Word("?")))), none) is None
    assert compiler.compile(Field("intitle", "!"), none) is None
    assert compiler.compile(Word("the"), frozenset({"the"})) is None
    assert isinstance(compiler.compile(Word("the"), none), Query)
    assert isinstance(compiler.compile(Site("a.test"), none), Query)


@pytest.mark.parametrize("several", [And, Or])
def test_a_part_that_is_repeated_is_searched_once(several: type[And] | type[Or]) -> None:
    compiler, phrase, none = Compiler(schema(["en"]), Ranking(), "en"), Phrase("a b"), frozenset[str]()
    once, often = (compiler.compile(several((Word("c"), *[phrase] * times)), none) for times in (1, 32))
    assert repr(often) == repr(once)
    assert repr(compiler.any_of(["c"] * 32, none)) == repr(compiler.any_of(["c"], none))


def test_terms_that_no_document_has_are_left_out_and_still_match_nothing() -> None:
    own, none = field("body", "en"), frozenset[str]()
    compiler = Compiler(schema(["en"]), Ranking(), "en", frequency=lambda name, term: int((name, term) == (own, "cat")))
    assert repr(compiler.any_of(["cat", "dog"], none)) == repr(compiler.any_of(["cat"], none))
    assert repr(compiler.any_of(["cat"], none)).count("cat") == 1, "in one field of several"
    for unknown in (Word("dog"), Phrase("cat dog"), Word("top-dog")):
        compiled = compiler.compile(unknown, none)
        assert isinstance(compiled, Query), "a required word is not ignored"
        assert "Term(" not in repr(compiled)


def test_a_field_without_weight_is_not_looked_at(tmp_path: Path) -> None:
    pages = [Doc("http://a.test/", "word", "nothing"), Doc("http://b.test/", "nothing", "word")]
    with library(tmp_path, pages, ranking__field_title=0.0) as opened:
        assert urls(opened.search("word", mode="and")) == ["http://b.test/"]


# -- real pages -----------------------------------------------------------------------------------------------------


def real_docs() -> list[Doc]:
    """The 498 real pages, in many languages, and abstracts of medical articles: 2,000 together."""
    docs = []
    for number, body in enumerate(real_pages().values()):
        page = parsed(body)
        url = (
            f"http://h{number % 20}.test/{'-'.join(page.title.split()[:4]).encode('ascii', 'ignore').decode()}/{number}"
        )
        at = 1.5e9 + 5e5 * number
        fields = (page.title, page.text[:4_000], page.description, page.keywords, page.headings, page.language, at)
        docs.append(Doc(url, *fields))
    with tarfile.open(shared("ir/nfcorpus.tar.xz")) as archive:
        lines = archive.extractfile("docs.jsonl")
        assert lines is not None
        for line in itertools.islice(lines, 2_000 - len(docs)):
            found = json.loads(line)
            docs.append(
                Doc(f"http://medicine.test/{found['id']}.pdf", found["title"], found["text"], mime="application/pdf")
            )
    return docs


def real_queries(docs: Sequence[Doc], chance: random.Random) -> Iterator[str]:
    """Queries of every kind, with words that stand beside each other on a page."""
    for doc in chance.sample(docs, 20):
        words = [
            word
            for word in doc.text.replace('"', " ").replace("(", " ").replace(")", " ").split()
            if word[0] not in "-+" and word == spaced(word)
        ]
        if len(words) < 10:
            continue
        at = chance.randrange(len(words) - 6)
        one, two, three, four = words[at : at + 4]
        other = chance.choice(words)
        title = (doc.title.replace('"', " ").replace("(", " ").replace(")", " ").split() or ["x"])[0]
        yield from (
            f"{one} {two} {other}",
            f'"{one} {two} {three} {four}"',
            f'"{one} {two}" OR "{three} {four}"',
            f'{other} -"{one} {two}"',
            f"({one} OR {two}) -({three}) +{four}",
            f"{other} intitle:{title}",
            f"{other} site:h{chance.randrange(20)}.test",
            f"{other} after:2018-03 before:2019 -filetype:pdf",
            f'{one} lang:{doc.language or "en"} -inurl:"{title}"',
        )


class Matcher:
    """Finds pages by compiled queries alone, without scores and snippets."""

    def __init__(self, opened: OpenIndex) -> None:
        self.index, self._finder = opened, CandidateFinder(opened, Ranking())
        self.urls = [opened.pages.head(number).url for number in range(opened.documents)]

    def found(self, root: Node, language: QueryLanguage) -> frozenset[str]:
        matches = self.index.matches(self._finder.matching(root, language), len(self.urls))
        return frozenset(self.urls[number] for number in matches.numbers.tolist())


@pytest.mark.slow
def test_queries_find_on_2000_real_pages_what_brute_force_finds(tmp_path: Path) -> None:
    docs = real_docs()
    assert len(docs) == 2_000
    with library(tmp_path, docs) as engine:
        scan, matcher = PageScan(docs), Matcher(engine.index)
        kept = frozenset(matcher.urls)  # duplicates are merged
        for query in real_queries(docs, random.Random(17)):
            root = parse_query(query).root
            assert root is not None
            language = query_language(wanted_words(root), engine.counts)
            ignored = language.ignored
            assert matcher.found(root, language) == scan.found(root, "and", ignored) & kept, query
            assert matcher.found(loosened(root), language) == scan.found(root, "or", ignored) & kept, query
