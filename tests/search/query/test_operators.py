"""Operators read their values, or say what they need."""

from __future__ import annotations

import pytest

from periplus.search.query.operators import OPERATORS, hint_about, read_operator, seconds_of
from periplus.search.query.tree import Field, Node, Site


@pytest.mark.parametrize(
    ("name", "value", "node"),
    [
        ("filetype", "PDF", Field("filetype", "pdf")),
        ("ext", ".txt", Field("filetype", "text")),
        ("filetype", "md", Field("filetype", "text")),
        ("filetype", "rss", Field("filetype", "feed")),
        ("LANG", "Portuguese", Field("lang", "pt")),
        ("language", "pt-BR", Field("lang", "pt")),
        ("before", "2024", Field("before", "2024")),
        ("after", "2024/5/7", Field("after", "2024-05-07")),
        ("inurl", " a  b ", Field("inurl", "a b")),
        ("site", "https://user@example.org:80/a/b/?q#f", Site("example.org", ":80/a/b")),
        ("site", "*.example.org/*", Site("example.org")),
        ("site", "[::1]:80", Site("[::1]")),
    ],
)
def test_a_value_is_read(name: str, value: str, node: Node) -> None:
    assert read_operator(name, value) == (node, "")


@pytest.mark.parametrize("name", [name for name in OPERATORS if name not in {"site", "intitle", "inurl"}])
@pytest.mark.parametrize("value", ["", "?", "xyzzy", "20 24", "2024-02-30", "\u0662\u0660\u0662\u0664"])
def test_a_wrong_value_says_what_the_operator_needs(name: str, value: str) -> None:
    node, hint = read_operator(name, value)
    assert node is None
    assert "It needs " in hint


@pytest.mark.parametrize(("date", "seconds"), [("1970", 0), ("1970-02", 31 * 86_400), ("1970-01-02", 86_400)])
def test_a_date_is_its_first_second(date: str, seconds: int) -> None:
    assert seconds_of(date) == seconds


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("filetyp:pdf", "Did you mean filetype:?"),
        ("author:smith", "There is no operator author:"),
        ("site:", "Write site: and its value without a space."),
        ("note:", ""),
        ("std::map", ""),
        ("http://a/", ""),
        ("localhost:80", ""),
        ("C:x", ""),
        ("word", ""),
    ],
)
def test_a_word_that_looks_like_an_operator_is_a_hint(word: str, hint: str) -> None:
    assert hint in hint_about(word)
    assert bool(hint) is bool(hint_about(word))
