"""What kind of page is this: a source listing, a generated index, an API reference, an article?

Documentation tools write such pages to well-known paths with well-known titles. The table has one rule per kind and
certainty, and the first rule that matches decides. A rule that also matches ordinary pages requires a shape of text.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """The kind of a page, in at most seven letters."""

    HOME = "home"  # the first page of a host
    PDF = "pdf"
    FEED = "feed"
    TEXT = "text"  # plain text
    SOURCE = "source"  # a listing of source code
    INDEX = "index"  # generated: index, search form, list of modules or classes
    CHANGES = "changes"  # release notes, news of versions
    API = "api"  # a reference: one class, function, command or module
    ARTICLE = "article"  # mostly prose
    OTHER = "other"


class _Shape(StrEnum):
    """The shape of a text, as the start of it shows."""

    ANY = "any"
    CODE = "code"  # many lines look like code
    NO_PROSE = "no prose"  # short lines, or hardly any text


_TITLE = 200  # characters of the title that are matched
_READ = 2_000  # characters of the text whose shape is looked at
_LONG_LINE = 60  # bytes in UTF-8; prose has such lines, and a Chinese character says as much as three letters
_MUCH_PROSE = 0.5  # share of the bytes that are in long lines
_HARDLY_ANY = 300  # characters
_MUCH_CODE = 0.3  # share of the lines
_CODE_LINE = re.compile(
    r"[;{}]\s*$|^\s*(?:#|//|/\*|\*|--|import |from \w+ import|def |class |use |fn |pub |let |return\b|if ?\()"
)


class _Rule(NamedTuple):
    """A page whose path or title matches, and whose text has the shape, is of this kind. Both are in lower case."""

    kind: Kind
    path: str  # regular expression, searched anywhere in the path
    title: str  # regular expression for the start of the title
    shape: _Shape = _Shape.ANY


_LANGUAGES = "c|cc|cpp|h|hpp|py|rs|go|java|js|hs|rb|pl|pas"  # extensions of source files
_RULES = (
    _Rule(
        Kind.INDEX,
        r"/_modules/(?:index\.html)?$|/(?:py-|http-|std-)?(?:gen|mod|doc-|api-)index(?:-[^/]*)?\.html?$|/genindex/"
        r"|/(?:allclasses|allpackages|overview-tree|package-tree|deprecated-list|constant-values)[^/]*\.html?$"
        r"|/index-(?:files/|all\.)|/(?:std|core|alloc)/all\.html$",
        r"overview: module code|python module index$|.*\(index(?: - [a-z])?\)$|index of all |list of all items\b",
    ),
    _Rule(
        Kind.INDEX,
        r"/search(?:page)?\.html?$|/(?:sitemap|toc|contents|bookindex)\.html?$",
        r"(?:module |general |subject |alphabetical )?index$|search(?: page| results)?$|table of contents$"
        r"|all (?:classes|packages|modules)$"
        r"|(?:索引|検索|目次|目录|搜索|indice analitico|stichwortverzeichnis|предметный указатель)$",
        _Shape.NO_PROSE,
    ),
    _Rule(
        Kind.SOURCE,
        rf"/_modules/.|/_sources/.|/src-html/.|/src/.*\.rs\.html$|\.(?:{_LANGUAGES})$",
        rf"source (?:code for|of) |.*\.rs - source$|\S+/\S+\.(?:{_LANGUAGES})$",
    ),
    _Rule(Kind.SOURCE, rf"/src/.|[._](?:{_LANGUAGES})\.html?$|_source\.html?$", r".* source file$", _Shape.CODE),
    _Rule(
        Kind.CHANGES,
        r"/(?:changelog|changes|release[-_]?notes|relnotes|what_?s_?new|news)(?:[-_.\d][^/]*)?(?:\.html?|/.*)$"
        r"|/releases?/.",
        r"(?:full )?change ?log$|(?:\d[\d.]* )?release notes?\b|release v?\d|what.s new (?:in|for)\b|news - \d",
    ),
    _Rule(
        Kind.API,
        r"/(?:api|apidocs?|javadoc|_autosummary|generated|manpages?|man[1-8])/."
        r"|/(?:struct|trait|enum|fn|macro|constant|type|union|primitive|keyword|derive|attr|static)\.[^/]+\.html$",
        r"(?:class|struct|enum|trait|function|module|interface|package|namespace|unit) [\w.:<>]+$"
        r"|[\w:<>]+ (?:class|struct|namespace|module)\b|.*\bclass reference$|.*\([1-8][a-z]*\)$"
        r"|[a-z_]\w*(?:\.\w+)+$|\w+(?:::\w+)+$",
    ),
)
_COMPILED = [(rule, re.compile(rule.path), re.compile(rule.title)) for rule in _RULES]
_FIRST_PAGE = re.compile(r"/(?:(?:index|default|home)\.(?:x?html?|php|aspx?))?")
_BY_MIME = {
    "application/pdf": Kind.PDF,
    "application/rss+xml": Kind.FEED,
    "application/atom+xml": Kind.FEED,
    "application/rdf+xml": Kind.FEED,
    "application/feed+json": Kind.FEED,
}


def page_kind(url: str, title: str, mime: str, text: str) -> Kind:
    """The kind of a page; *title* is without the name of the site, *text* is the main text."""
    if mime in _BY_MIME:
        return _BY_MIME[mime]
    path = "/" + url.partition("://")[2].partition("/")[2].lower()
    if _FIRST_PAGE.fullmatch(path):
        return Kind.HOME
    return _by_rules(path.partition("?")[0], title[:_TITLE].lower(), text[:_READ]) or _by_text(mime, text[:_READ])


def _by_rules(path: str, title: str, text: str) -> Kind | None:
    for rule, in_path, in_title in _COMPILED:
        if (in_path.search(path) or in_title.match(title)) and _has_shape(text, rule.shape):
            return rule.kind
    return None


def _by_text(mime: str, text: str) -> Kind:
    if mime == "text/plain":
        return Kind.TEXT
    return Kind.ARTICLE if _is_prose(text) else Kind.OTHER


def _has_shape(text: str, shape: _Shape) -> bool:
    if shape is _Shape.CODE:
        return _is_code(text)
    return shape is _Shape.ANY or len(text) < _HARDLY_ANY or not _is_prose(text)


def _is_prose(text: str) -> bool:
    lengths = [len(line) for line in text.encode().split(b"\n")]
    return sum(length for length in lengths if length >= _LONG_LINE) >= _MUCH_PROSE * sum(lengths) > 0


def _is_code(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(_CODE_LINE.search(line) is not None for line in lines) >= _MUCH_CODE * len(lines) > 0
