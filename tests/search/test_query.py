"""Any text is a valid query: it is parsed as typed, or as plain words with a hint, and never slowly."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from periplus.search.query import (
    And,
    Node,
    Not,
    Or,
    Phrase,
    Site,
    Word,
    has_positive,
    loosened,
    parse_query,
    wanted_words,
)
from search.hostile_queries import SHAPES
from shared_data import shared

A, B, C = Word("a"), Word("b"), Word("c")


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
        ("a -b", And((A, Not(B)))),
        ('a -"b c"', And((A, Not(Phrase("b c"))))),
        ("a -(b c)", And((A, Not(And((B, C)))))),
        ("a --b", And((A, Word("--b")))),
        ("pip --no-cache-dir", And((Word("pip"), Word("--no-cache-dir")))),
        ("a --(b c)", And((A, Not(And((B, C)))))),
        ("-fPIC", Word("-fPIC")),
        (" -fPIC ", Word("-fPIC")),
        ("--help", Word("--help")),
        ('"-fPIC" gcc', And((Phrase("-fPIC"), Word("gcc")))),
        ("gcc -fPIC", And((Word("gcc"), Not(Word("fPIC"))))),
        ("a -(-b)", And((A, B))),
        ("a-b", Word("a-b")),
        ("a or b and c", And((A, Word("or"), B, Word("and"), C))),
        ("ORANGE ANDROID", And((Word("ORANGE"), Word("ANDROID")))),
        ('"a OR b"', Phrase("a OR b")),
        ('a"b"c', And((A, Phrase("b"), C))),
        ("c++ c# .net", And((Word("c++"), Word("c#"), Word(".net")))),
        ("user:name http://x/", And((Word("user:name"), Word("http://x/")))),
        ("a site:example.org", And((A, Site("example.org")))),
        ("SITE:Example.ORG. a", And((Site("example.org"), A))),
        ("a -site:example.org", And((A, Not(Site("example.org"))))),
        ("a site:https://example.org:8080/path?q", And((A, Site("example.org")))),
        ("a site:*.example.org", And((A, Site("example.org")))),
        ("a site:BÜCHER.example", And((A, Site("xn--bcher-kva.example")))),
        ("a site:[::1]:80", And((A, Site("[::1]")))),
        ("a site:...", A),
        ("site:", Word("site:")),
        ("a ()", A),
        ("a ( ( ) )", A),
        ('a ""', A),
        ("a - b", And((A, B))),
        ("a (-)", A),
        ("a -", A),
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
        ("a (OR) -b", And((A, Not(B))), "plain words"),
        ("a OR site:x.test OR", And((A, Site("x.test"))), "plain words"),
        ("a -OR b", And((A, B)), "plain words"),
        ('a "b', And((A, B)), "quotation mark"),
        ('"a" b"', And((Phrase("a"), B)), "quotation mark"),
        ("(a", A, "unmatched parentheses"),
        ("a) OR (b", Or((A, B)), "unmatched parentheses"),
        ("-a -b", None, "-foo only excludes"),
        ("a OR --b OR", And((A, Word("--b"))), "plain words"),
        ("-(a b)", None, "-foo only excludes"),
        ("-site:x.test", None, "-foo only excludes"),
        ("a OR -b", None, "-foo only excludes"),
    ],
)
def test_a_mistake_is_a_hint_and_the_rest_is_read(text: str, root: Node | None, hint: str) -> None:
    parsed = parse_query(text)
    assert parsed.root == root
    assert any(hint in told for told in parsed.hints), parsed.hints


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


def test_every_naughty_string_is_a_query() -> None:
    texts: list[str] = json.loads(shared("hostile/naughty_strings.json").read_text(encoding="utf-8"))
    for text in texts:
        parsed = parse_query(text)
        assert parsed.root is not None or parsed.hints
        assert tree(parsed.understood) == parsed.root


# -- the printed form -----------------------------------------------------------------------------------------------

marks = st.sampled_from(
    ["(", ")", '"', "-", " ", " OR ", " AND ", "site:", "OR", "AND", ":", "/", ".", "*", "@", "[", "]"]
)
pieces = marks | st.sampled_from(["a", "b", "foo-bar", "İ", "ß", "ü.test", "\u2028", "x@y", "://"])


@settings(max_examples=300)
@given(st.lists(pieces, max_size=25).map("".join))
@example('"("')
@example("(-)")
@example('"a"-')
@example("site:. a")
@example("a:80:80 site:a:80:80")
@example("-site:x OR")
@example("site:**.x a")
@example('a"-b"')
def test_the_printed_form_means_the_same(text: str) -> None:
    parsed = parse_query(text)
    again = parse_query(parsed.understood)
    assert again.root == parsed.root
    assert again.understood == parsed.understood


@given(st.text(max_size=300))
def test_so_it_does_for_any_text(text: str) -> None:
    parsed = parse_query(text)
    assert tree(parsed.understood) == parsed.root


words = st.from_regex(r"[a-z0-9+#.]{1,8}", fullmatch=True)
leaves = st.one_of(
    words.map(Word),
    st.lists(words, min_size=1, max_size=3).map(lambda found: Phrase(" ".join(found))),
    st.from_regex(r"[a-z]{1,5}(\.[a-z]{1,3})?", fullmatch=True).map(Site),
)


def _not(node: Node) -> Node:
    return node.node if isinstance(node, Not) else Not(node)


def _group(kind: type[And] | type[Or], nodes: list[Node]) -> Node:
    flat: list[Node] = []
    for node in nodes:
        flat += node.nodes if isinstance(node, kind) else [node]
    return kind(tuple(flat))


trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(_not),
        st.lists(inner, min_size=2, max_size=3).map(lambda nodes: _group(And, nodes)),
        st.lists(inner, min_size=2, max_size=3).map(lambda nodes: _group(Or, nodes)),
    ),
    max_leaves=12,
)


@settings(max_examples=60)
@given(trees)
def test_every_tree_with_a_positive_word_can_be_written(root: Node) -> None:
    assume(has_positive(root))
    parsed = parse_query(str(root))
    assert parsed.root == root
    assert parsed.hints == ()


# -- looser queries -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "looser"),
    [
        ("a", "a"),
        ("a b", "a OR b"),
        ("a b -c", "(a OR b) -c"),
        ("a b site:x.test", "(a OR b) site:x.test"),
        ("a -c", "a -c"),
        ("a site:x.test", "a site:x.test"),
        ("a OR b", "a OR b"),
        ("a (b OR c)", "a OR b OR c"),
        ('"a b" c', '"a b" OR c'),
        ("heat-resistant", "heat OR resistant"),
        ("a heat-resistant -x-y", "(a OR heat OR resistant) -x-y"),
        ("ファイルの削除方法", "ファイル OR 削除 OR 除方 OR 方法"),
        ("C言語入門", "C OR 言語 OR 語入 OR 入門"),
        ('"heat-resistant" c++ a_b', '"heat-resistant" OR c++ OR a_b OR a OR b'),
    ],
)
def test_any_wanted_word_suffices_in_a_looser_query(text: str, looser: str) -> None:
    root = tree(text)
    assert root is not None
    assert tree(str(loosened(root))) == tree(looser)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a b", ["a", "b"]),
        ('a "b c" OR d', ["a", "b c", "d"]),
        ("a -b site:c.test", ["a"]),
        ("a a", ["a", "a"]),
        ("a -(b OR -c)", ["a"]),
    ],
)
def test_wanted_words_are_those_that_pages_should_hold(text: str, found: list[str]) -> None:
    root = tree(text)
    assert root is not None
    assert wanted_words(root) == found
