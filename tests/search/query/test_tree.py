"""A parsed query prints as a query that means the same, and loosens as documented."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

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
    has_positive,
    loosened,
    wanted_words,
)


def tree(text: str) -> Node | None:
    return parse_query(text).root


# -- the printed form -----------------------------------------------------------------------------------------------

marks = st.sampled_from(
    ["(", ")", '"', "-", " ", " OR ", " AND ", "site:", "OR", "AND", ":", "/", ".", "*", "@", "[", "]", "+", "=", ","]
)
operators = st.sampled_from(["intitle:", "inurl:", "filetype:", "lang:", "before:", "after:", "ext:", "foo:"])
values = st.sampled_from(["pdf", "htm", "de", "German", "chineset", "2024", "2024-5", "1999/12/31", "9999", "0000"])
pieces = marks | st.sampled_from(["a", "b", "foo-bar", "İ", "ß", "ü.test", "\u2028", "x@y", "://", "Wall", "O2"])


@settings(max_examples=500)
@given(st.lists(pieces | operators | values, max_size=25).map("".join))
@example('"("')
@example("(-)")
@example('"a"-')
@example("site:. a")
@example("a:80:80 site:a:80:80")
@example("-site:x OR")
@example("site:**.x a")
@example('a"-b"')
@example('a intitle:"b c" -(b)')
@example("+(-a) +(+b) -(+c) +(a OR b)")
@example('site:"a b" lang:chineset lang:zzb')
@example("-car -(boat) OR")
@example("+a +OR b")
@example("-[a b] [a  b]:")
@example("a (b AND [c d) e f]")
@example("site:.[x]y a")
def test_the_printed_form_means_the_same(text: str) -> None:
    parsed = parse_query(text)
    again = parse_query(parsed.understood)
    assert again.root == parsed.root
    assert again.understood == parsed.understood


@settings(max_examples=500)
@given(st.text(max_size=300))
def test_so_it_does_for_any_text(text: str) -> None:
    parsed = parse_query(text)
    assert tree(parsed.understood) == parsed.root


words = st.from_regex(r"[a-z0-9#.][a-z0-9+#.]{0,7}", fullmatch=True)
leaves = st.one_of(
    words.map(Word),
    st.lists(words, min_size=1, max_size=3).map(lambda found: Phrase(" ".join(found))),
    st.builds(
        Site,
        st.from_regex(r"[a-z]{1,5}(\.[a-z]{1,3})?", fullmatch=True),
        st.sampled_from(["", "/docs", ":80/a/b"]),
    ),
    st.builds(Field, st.sampled_from(["intitle", "inurl"]), st.sampled_from(["a", "a b", "c++", "x=y"])),
    st.sampled_from(
        [Field("filetype", "pdf"), Field("lang", "de"), Field("before", "2024"), Field("after", "2024-05-17")]
    ),
)


def _not(node: Node) -> Node:
    return node.node if isinstance(node, Not) else Not(node.node if isinstance(node, Required) else node)


def _required(node: Node) -> Node:
    return node if isinstance(node, Not | Required | Site | Field) else Required(node)


def _group(kind: type[And] | type[Or], nodes: list[Node]) -> Node:
    flat: list[Node] = []
    for node in nodes:
        flat += node.nodes if isinstance(node, kind) else [node]
    return kind(tuple(flat))


trees: st.SearchStrategy[Node] = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(_not),
        inner.map(_required),
        st.lists(inner, min_size=2, max_size=3).map(lambda nodes: _group(And, nodes)),
        st.lists(inner, min_size=2, max_size=3).map(lambda nodes: _group(Or, nodes)),
    ),
    max_leaves=12,
)


@settings(max_examples=500)
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
        ("a b -car", "(a OR b) -car"),
        ("a b site:x.test", "(a OR b) site:x.test"),
        ("a -car", "a -car"),
        ("a b lang:de", "(a OR b) lang:de"),
        ("+a b", "(b OR a) +a"),
        ("+a +b", "+a +b"),
        ("+a b c", "(b OR c OR a) +a"),
        ("c++", "c++ OR c"),
        ("a site:x.test", "a site:x.test"),
        ("a OR b", "a OR b"),
        ("a (b OR c)", "a OR b OR c"),
        ('"a b" c', '"a b" OR c'),
        ("heat-resistant", "heat OR resistant"),
        ("a heat-resistant -x-y", "(a OR heat OR resistant) -x-y"),
        ("ファイルの削除方法", "ファイル OR 削除 OR 除方 OR 方法"),
        ("C言語入門", "C OR 言語 OR 語入 OR 入門"),
        ('"heat-resistant" c++ a_b', '"heat-resistant" OR c++ OR c OR a_b OR a OR b'),
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
        ("a -bb site:c.test inurl:d", ["a"]),
        ('+a intitle:"b c"', ["a", "b c"]),
        ("a a", ["a", "a"]),
        ("a -(b OR -c)", ["a"]),
    ],
)
def test_wanted_words_are_those_that_pages_should_hold(text: str, found: list[str]) -> None:
    root = tree(text)
    assert root is not None
    assert wanted_words(root) == found
