"""Any text is a valid query: it is parsed as typed, or as plain words with a hint, and never slowly."""

from __future__ import annotations

import json
import random
import time
from typing import Any

import pytest

from periplus.search.query.parser import parse_query
from periplus.search.query.tree import (
    And,
    Field,
    Node,
    Not,
    Or,
    Phrase,
    Required,
    Site,
    Word,
    loosened,
    wanted_words,
)
from search.hostile_queries import PARTS, SHAPES
from shared_data import shared

A, B, C, CAR = Word("a"), Word("b"), Word("c"), Word("car")


def tree(text: str) -> Node | None:
    return parse_query(text).root


# -- what is meant --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("a", A),
        ("  a\t\nb ", And((A, B))),
        ("a AND b", And((A, B))),
        ("a OR b", Or((A, B))),
        ("a b OR c", Or((And((A, B)), C))),
        ("a (b OR c)", And((A, Or((B, C))))),
        ("a AND b OR c", Or((And((A, B)), C))),
        ("((a))", A),
        ("(a b) c", And((A, B, C))),
        ("(a OR b) OR c", Or((A, B, C))),
        ('"a b"', Phrase("a b")),
        ('" a   b "', Phrase("a b")),
        ('"a (b"', Phrase("a b")),
        ("a -car", And((A, Not(CAR)))),
        ('a -"b c"', And((A, Not(Phrase("b c"))))),
        ("a -(b c)", And((A, Not(And((B, C)))))),
        ("a -(b)", And((A, Not(B)))),
        ("a --(b c)", And((A, Not(And((B, C)))))),
        ("a -(-car)", And((A, CAR))),
        ("apple -iPhone -Windows", And((Word("apple"), Not(Word("iPhone")), Not(Word("Windows"))))),
        ("a -C++ -node.js -3.11", And((A, Not(Word("C++")), Not(Word("node.js")), Not(Word("3.11"))))),
        ("a -猫", And((A, Not(Word("猫"))))),
        ("+a b", And((Required(A), B))),
        ('+"a b" +(b c)', And((Required(Phrase("a b")), Required(And((B, C)))))),
        ("+site:x.test +(-car)", And((Site("x.test"), Not(CAR)))),
        ("a -(+b)", And((A, Not(B)))),
        ("a ++i + b", And((A, Word("++i"), Word("+"), B))),
        ("a-b", Word("a-b")),
        ("a or b and c", And((A, Word("or"), B, Word("and"), C))),
        ("ORANGE ANDROID", And((Word("ORANGE"), Word("ANDROID")))),
        ('"a OR b"', Phrase("a OR b")),
        ('a"b"c', And((A, Phrase("b"), C))),
        ("c++ c# .net", And((Word("c++"), Word("c#"), Word(".net")))),
        ("http://x/ localhost:80 std::map", And((Word("http://x/"), Word("localhost:80"), Word("std::map")))),
        ("[Errno 2] open", And((Word("[Errno 2]"), Word("open")))),
        ("[Errno  2]: open", And((Word("[Errno 2]:"), Word("open")))),
        ("a[0] [b] [c d]e", And((Word("a[0]"), Word("[b]"), Word("c"), Word("d]e")))),
        ("a site:example.org", And((A, Site("example.org")))),
        ("SITE:Example.ORG. a", And((Site("example.org"), A))),
        ("a -site:example.org", And((A, Not(Site("example.org"))))),
        ("a site:https://example.org:8080/", And((A, Site("example.org")))),
        ("a site:https://example.org:8080/Path?q", And((A, Site("example.org", ":8080/path")))),
        ("a site:example.org/docs/*", And((A, Site("example.org", "/docs")))),
        ('a site:"example.org"', And((A, Site("example.org")))),
        ("a site:*.example.org", And((A, Site("example.org")))),
        ("a site:BÜCHER.example", And((A, Site("xn--bcher-kva.example")))),
        ("a site:[::1]:80", And((A, Site("[::1]")))),
        ("a site:...", A),
        ("a ()", A),
        ("a ( ( ) )", A),
        ('a ""', A),
        ("a - b", And((A, B))),
        ("a (-)", A),
        ("a -", A),
        ("a filetype:PDF", And((A, Field("filetype", "pdf")))),
        ("a ext:htm", And((A, Field("filetype", "html")))),
        ("a lang:German -LANG:en-GB", And((A, Field("lang", "de"), Not(Field("lang", "en"))))),
        ('a InTitle:b -intitle:"b  c"', And((A, Field("intitle", "b"), Not(Field("intitle", "b c"))))),
        ("inurl:b?id=5 -inurl:id=5", And((Field("inurl", "b?id=5"), Not(Field("inurl", "id=5"))))),
        ("a before:2024-5 after:2023", And((A, Field("before", "2024-05"), Field("after", "2023")))),
    ],
)
def test_a_query_is_read_as_it_is_meant(text: str, root: Node) -> None:
    parsed = parse_query(text)
    assert parsed.root == root
    assert parsed.hints == ()


@pytest.mark.parametrize("text", ["", " \n", "()", '""', '" "', "-", "--", "( - )", "site:..", '-""'])
def test_a_query_without_a_word_has_a_hint(text: str) -> None:
    assert parse_query(text) == parse_query("")
    assert parse_query(text).hints == ("The query has no word.",)


@pytest.mark.parametrize(
    ("text", "root", "hint"),
    [
        ("a OR", A, "plain words"),
        ("OR a", A, "plain words"),
        ("a OR OR b", And((A, B)), "plain words"),
        ("AND", None, "plain words"),
        ("a (OR) -car", And((A, Not(CAR))), "plain words"),
        ("a OR site:x.test OR", And((A, Site("x.test"))), "plain words"),
        ("a -OR b", And((A, B)), "plain words"),
        ('a "b', And((A, B)), "quotation mark"),
        ('"a" b"', And((Phrase("a"), B)), "quotation mark"),
        ("(a", A, "unmatched parentheses"),
        ("a) OR (b", Or((A, B)), "unmatched parentheses"),
        ("OR a filetype:pdf", And((A, Field("filetype", "pdf"))), "plain words"),
        ("a OR --b OR", And((A, Word("--b"))), "plain words"),
        ("-(a b)", None, "-foo only excludes"),
        ("-site:x.test", None, "-foo only excludes"),
        ("a OR -car", None, "-foo only excludes"),
        ("a before:yesterday", A, "before:yesterday. It needs a date such as 2024, 2024-05 or 2024-05-17"),
        ("a before:2024-13", A, "needs a date"),
        ("a after:0000", A, "needs a date"),
        ("a lang:klingonese", A, "needs a language such as de or German"),
        ("a filetype:exe", A, "needs one of html, pdf, text, feed, xml"),
        ('a intitle:""', A, "intitle: needs a word"),
        ("site: a", And((Word("site:"), A)), "without a space"),
        ("intitle:(a b)", And((Word("intitle:"), A, B)), "without a space"),
        ("user:name a", And((Word("user:name"), A)), "no operator user:"),
        ("filetyp:pdf", Word("filetyp:pdf"), "Did you mean filetype:?"),
    ],
)
def test_a_mistake_is_a_hint_and_the_rest_is_read(text: str, root: Node | None, hint: str) -> None:
    parsed = parse_query(text)
    assert parsed.root == root
    assert any(hint in told for told in parsed.hints), parsed.hints


@pytest.mark.parametrize(
    "option",
    ["-v", "-9", "-O2", "-Wall", "-Wunused-label", "-Wl,-s", "-fPIC", "-fno-common", "-std=c++11", "--no-cache-dir"],
)
def test_an_option_is_searched_as_typed(option: str) -> None:
    assert parse_query(f"{option} gcc").root == And((Word(option), Word("gcc")))
    assert parse_query(f"gcc {option}").excluded == ()


@pytest.mark.parametrize("text", ["-car", " -car ", "-car -boat"])
def test_a_minus_is_part_of_the_word_when_nothing_else_is_wanted(text: str) -> None:
    words = tuple(map(Word, text.split()))
    assert parse_query(text).root == (And(words) if len(words) > 1 else words[0])
    assert parse_query(text).hints == (
        "The query has no other word, so the words with a minus were searched as typed.",
    )


def test_what_is_excluded_is_told() -> None:
    parsed = parse_query('+jaguar -car -"big cat" (a OR -(b c)) -site:x.test -filetype:pdf')
    assert parsed.excluded == ("car", '"big cat"', "b c", "site:x.test", "filetype:pdf")


def _tagged(tag: str, words: list[str]) -> tuple[Node, Node]:
    """The tree of a query of the benchmark with this tag, and of its partial matches; *words* have their signs."""
    bare = [Word(word.lstrip("+-")) for word in words]
    signs: dict[str, Any] = {"+": Required, "-": Not}
    signed = [signs.get(word[0], lambda node: node)(node) for word, node in zip(words, bare, strict=True)]
    whole = And(tuple(signed)) if len(signed) > 1 else signed[0]
    if tag == "union":
        return whole, Or(tuple(bare))
    if tag == "intersection_union":
        required = [node for node in signed if isinstance(node, Required)]
        optional = [node for node in signed if isinstance(node, Word)]
        return whole, And((Or((*optional, *(node.node for node in required))), *required))
    return whole, whole


def test_the_queries_of_the_search_benchmark_are_read_as_tagged() -> None:
    lines = shared("queries/search_benchmark_game.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 962
    for query in map(json.loads, lines):
        text, tag = query["query"], query["tags"][0]
        parsed = parse_query(text)
        assert parsed.hints == ()
        assert parsed.root is not None
        if tag == "phrase":
            assert parsed.root == Phrase(text.strip('"'))
        elif tag == "two-phase-critic":
            assert parsed.root == And((Required(Phrase("the who")), Required(Word("uk"))))
        else:
            assert (parsed.root, loosened(parsed.root)) == _tagged(tag, text.split()), text


def test_half_a_character_is_not_looked_for() -> None:
    assert tree("a\ud800") == Word("a?")


# -- caps -----------------------------------------------------------------------------------------------------------


def test_only_so_many_words_are_read() -> None:
    parsed = parse_query(" ".join(f"w{number}" for number in range(100)))
    assert isinstance(parsed.root, And)
    assert parsed.root.nodes == tuple(Word(f"w{number}") for number in range(64))
    assert parsed.hints == ("Only the first 64 words were used.",)


def test_every_character_counts_in_text_without_spaces() -> None:
    parsed = parse_query("北京" * 500)
    assert parsed.root == Word("北京" * 32)
    assert parsed.hints == ("Only the first 64 words were used.",)


def test_operators_are_not_words() -> None:
    parsed = parse_query(" OR ".join(f"w{number}" for number in range(64)))
    assert parsed.hints == ()
    assert isinstance(parsed.root, Or)
    assert len(parsed.root.nodes) == 64


def test_a_query_that_is_cut_keeps_its_meaning() -> None:
    parsed = parse_query(" OR ".join(f"w{number}" for number in range(100)))
    assert parsed.root == Or(tuple(Word(f"w{number}") for number in range(64)))
    deep = parse_query("a (b OR (c " + "d " * 61 + "-(e OR f")
    assert deep.hints == ("Only the first 64 words were used.",)
    assert deep.root == And((A, Or((B, And((C, *[Word("d")] * 61))))))


def test_terms_hidden_in_one_word_or_phrase_count_too() -> None:
    (phrase,) = wanted_words(tree('"' + "x " * 500 + '" y') or A)
    assert phrase.split() == ["x"] * 64
    (word,) = wanted_words(tree(".".join("abcdefgh" * 50)) or A)
    assert len(word.replace(".", "")) == 64


def test_only_so_many_characters_are_read() -> None:
    parsed = parse_query("a" * 3_000)
    assert parsed.root == Word("a" * 2_048)
    assert parsed.hints == ("Only the first 2,048 characters were used.",)


@pytest.mark.parametrize("depth", [16, 17, 10_000])
def test_parentheses_nest_only_so_deep(depth: int) -> None:
    parsed = parse_query("(" * depth + "a" + ")" * depth)
    if depth > 1_000:
        assert parsed.root is None
    else:
        assert parsed.root == A
    assert bool(parsed.hints) is (depth > 16)


# -- hostile texts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_query_is_read_at_once(shape: str) -> None:
    parse_query("warm up")
    started = time.process_time()
    parsed = parse_query(SHAPES[shape])
    assert time.process_time() - started < 2
    assert parsed.root is not None or parsed.hints
    assert tree(parsed.understood) == parsed.root


@pytest.mark.slow
def test_ten_thousand_random_queries_are_read_without_an_exception() -> None:
    chance = random.Random(6)
    for _ in range(10_000):
        text = "".join(chance.choices(PARTS, k=chance.randrange(30)))
        parsed = parse_query(text)
        assert parsed.root is not None or parsed.hints, text
        assert tree(parsed.understood) == parsed.root, text


def test_every_naughty_string_is_a_query() -> None:
    texts: list[str] = json.loads(shared("hostile/naughty_strings.json").read_text(encoding="utf-8"))
    for text in texts:
        parsed = parse_query(text)
        assert parsed.root is not None or parsed.hints
        assert tree(parsed.understood) == parsed.root
