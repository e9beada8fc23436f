"""Language topics become pages with headings, code and links."""

from __future__ import annotations

import pytest

from periplus.demo import topics
from periplus.demo.topics import topic_content, topic_texts, topic_title

TEXT = """The "with" statement
********************

The "with" statement needs "contextlib" or <something> like "it()".

   with open(path) as file:
       pass

Details
=======

More.
"""


def test_a_chapter_becomes_headings_paragraphs_and_code() -> None:
    html = topic_content("with", TEXT, {"with"}, {"contextlib"})
    assert "<h1>The with statement</h1>" in html
    assert "<h2>Details</h2>" in html
    assert "<pre>   with open(path) as file:\n       pass</pre>" in html
    assert "&lt;something&gt;" in html


def test_modules_that_are_named_are_linked() -> None:
    html = topic_content("with", TEXT, {"with"}, {"contextlib"})
    assert '<code><a href="../library/contextlib.html">contextlib</a></code>' in html
    assert "<code>it</code>" in html


def test_a_chapter_leads_to_those_that_belong_with_it() -> None:
    html = topic_content("with", TEXT, {"with", "context-managers"}, set())
    assert '<a href="context-managers.html">context-managers</a>' in html


def test_the_title_has_no_quotes() -> None:
    assert topic_title("with", TEXT) == "The with statement"
    assert topic_title("with", "") == "with"


def test_a_python_without_the_chapters_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(topics, "import_module", missing)
    assert topic_texts() == {}


def test_every_chapter_of_this_python_can_be_written() -> None:
    chapters = topic_texts()
    for name, text in chapters.items():
        assert "<h1>" in topic_content(name, text, chapters, set()), name
