"""Parses feeds (RSS of every version, Atom) and the XML records that feeds and sitemaps share.

Many of these documents are broken: a bare ``&``, an unclosed tag, a PHP warning before the first line, a truncated end.
An XML parser would stop there, so this module searches for the few tags it needs. It ignores DTDs, and replaces only
the entities of HTML.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import turbohtml

from periplus.parse.charset import decode
from periplus.parse.dates import epoch
from periplus.parse.limits import ADDRESS, TITLE, squeeze
from periplus.url import Canonicalizer

LARGEST = 50 * 1024 * 1024  # bytes of a decoded document: the limit of the sitemap protocol
MOST = 50_000  # records of a document: the limit of the sitemap protocol
_MOST_MARKS = 3_000_000  # "<" in a document: one per 17 bytes of the largest document
_MOST_TAGS = 1_000_000  # that start and end records: ten times what the largest document needs
_MOST_ROOTS = 8  # <rss>, <channel> and the like
_MOST_FIELDS = 30  # of a record
_LONGEST_RECORD = 1024 * 1024  # bytes that are searched for fields
_LONGEST_FIELD = 16_384  # bytes
_LARGEST_GUESSED = 2 * 1024 * 1024  # bytes; a larger document must be UTF-8, or UTF-16 with a byte order mark

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0?\0x\0", b"\0<\0?\0x")
_LITERAL = rb"!--.*?(?:-->|\Z)|!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)"
_SKIPPED_MARKUP = _LITERAL + rb"|!DOCTYPE[^\[>]*+(?:\[.*?(?:\]\s*+>|\Z)|>|\Z)"
_TEXT = rb"(?:[^<]++|<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)){0,20}"
_PIECE = re.compile(rb"<(?:%b)|(?P<text>[^<]++|<)" % _LITERAL, re.DOTALL)
_BARE = re.compile(r"&(?!#?\w{1,31};)")  # the &copy in ?a=1&copy=2 is not an entity
_ATTRIBUTE = re.compile(rb"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def record_tags(*names: str) -> re.Pattern[bytes]:
    """A pattern for the start and end tags of these elements, in any namespace.

    It also matches comments, CDATA and DOCTYPE, without a name, so that tags inside them are skipped.
    """
    tag = rb"(?P<end>/)?(?:(?P<prefix>[\w.-]++):)?(?P<name>%b)(?=[\s/>])(?P<rest>[^<>]*+)>?" % "|".join(names).encode()
    return re.compile(rb"<(?!<)(?:%b|%b)" % (_SKIPPED_MARKUP, tag), re.DOTALL | re.IGNORECASE)


def field_tags(*names: str, skipped: str = "!") -> re.Pattern[bytes]:
    """A pattern for these elements with their text, in any namespace; matches *skipped* elements with their content."""
    skip = rb"(?P<skip>(?:[\w.-]++:)?(?:%b))(?=[\s>])[^<>]*+(?<!/)>.*?(?:</(?P=skip)\s*+>|\Z)" % skipped.encode()
    tag = rb"(?:(?P<prefix>[\w.-]++):)?(?P<name>%b)(?=[\s/>])(?P<rest>[^<>]*+)>?" % "|".join(names).encode()
    return re.compile(
        rb"<(?!<)(?:%b|%b(?P<text>%b)|%b)" % (_SKIPPED_MARKUP, tag, _TEXT, skip), re.DOTALL | re.IGNORECASE
    )


_RECORDS = record_tags("rss", "rdf", "feed", "channel", "item", "entry")
_PUBLISHED = ("pubdate", "published", "dc:date", "issued", "created")
_UPDATED = ("updated", "modified")
_SELF = "link:self"  # the field name of a link with rel=self
_RELATIONS = b"http://www.iana.org/assignments/relation/"  # Atom allows it before the name of a relation
# The fields of these elements do not describe the entry: its source feed, an image, the text.
_SKIPPED = "source|image|textinput|content|description|summary"
_FIELDS = field_tags("title", "link", "guid", "id", "date", *_PUBLISHED, *_UPDATED, skipped=_SKIPPED)


class FeedEntry(NamedTuple):
    """One page listed by a feed."""

    link: str  # canonical
    title: str = ""
    published: float | None = None  # seconds since the epoch
    updated: float | None = None  # seconds since the epoch, if the feed has it


@dataclass(frozen=True, slots=True)
class Feed:
    """The title and entries of a feed."""

    title: str = ""
    entries: tuple[FeedEntry, ...] = ()  # in document order, each page once
    left_out: int = 0  # entries without a web URL, or past the limit


class Record(NamedTuple):
    """One element of a list, or the list's own fields before its first element."""

    name: str  # in lower case
    prefix: bytes | None  # of its namespace
    rest: bytes  # of its tag
    inner: bytes


def read_feed(body: bytes, url: str, canonicalizer: Canonicalizer) -> Feed:
    """Parse the feed at *url*; a body that is not a feed gives no entries."""
    title, base = "", url
    roots = number = left_out = 0
    entries: dict[str, FeedEntry] = {}
    for record in records(utf8(body[:LARGEST]), _RECORDS):
        if record.name in {"item", "entry"}:
            number += 1
            entry = _entry(record, base, canonicalizer) if number <= MOST else None
            if entry:
                entries.setdefault(entry.link, entry)
            else:
                left_out += 1
        elif roots < _MOST_ROOTS:
            roots += 1
            base = _base(record, base, canonicalizer)
            title = title or squeeze(fields(record, _FIELDS).get("title", ""), TITLE)
    return Feed(title, tuple(entries.values()), left_out)


def _entry(record: Record, base: str, canonicalizer: Canonicalizer) -> FeedEntry | None:
    found = fields(record, _FIELDS)
    base = _base(record, base, canonicalizer)
    page = (
        _joined(base, found.get("link", ""), canonicalizer)
        # An identifier is often a URL, even without isPermaLink.
        or canonicalizer.canonical((found.get("guid") or found.get("id", ""))[:ADDRESS])
        or canonicalizer.canonical(_about(record)[:ADDRESS])
        or _joined(base, found.get(_SELF, ""), canonicalizer)
    )
    if page is None:
        return None
    return FeedEntry(page, squeeze(found.get("title", ""), TITLE), _date(found, _PUBLISHED), _date(found, _UPDATED))


def _date(found: dict[str, str], names: tuple[str, ...]) -> float | None:
    return next((at for name in names if (at := epoch(found.get(name, ""))) is not None), None)


def _base(record: Record, base: str, canonicalizer: Canonicalizer) -> str:
    return _joined(base, _text(_attributes(record.rest).get("xml:base", b"")), canonicalizer) or base


def _joined(base: str, href: str, canonicalizer: Canonicalizer) -> str | None:
    return canonicalizer.join(base, href) if 0 < len(href) <= ADDRESS else None


def _about(record: Record) -> str:
    """The identifier of an RSS 1.0 item: the URL of its page."""
    attributes = _attributes(record.rest)
    return _text(attributes.get("rdf:about") or attributes.get("about", b""))


def utf8(body: bytes) -> bytes:
    """The document in UTF-8 without byte order mark and NULs; truncated if it has too many tags."""
    if len(body) <= _LARGEST_GUESSED or body.startswith(_WIDE):
        body = decode(body, "").encode()
    data = body.removeprefix(codecs.BOM_UTF8).replace(b"\0", b"")
    return data[: len(data) // (data.count(b"<") // _MOST_MARKS + 1)]


def records(data: bytes, names: re.Pattern[bytes]) -> Iterator[Record]:
    """The elements that *names* matches, in document order; each ends at its end tag or at the next matching tag."""
    opened = None
    for found in islice((tag for tag in names.finditer(data) if tag["name"]), _MOST_TAGS):
        if opened:
            yield _record(opened, data[opened.end() : found.start()])
        opened = None if found["end"] else found
    if opened:
        inner = data[
            opened.end() :
        ]  # the document is truncated: drop the last field, because half a URL would be another URL
        yield _record(opened, inner[: max(inner.rfind(b"<"), 0)])


def _record(tag: re.Match[bytes], inner: bytes) -> Record:
    return Record(tag["name"].decode().lower(), tag["prefix"], tag["rest"], inner)


def fields(record: Record, names: re.Pattern[bytes]) -> dict[str, str]:
    """The field texts of a record by name, the first that is not empty; "" names the text of a record without tags.

    A field from another namespace keeps its prefix: the ``loc`` of an image is ``image:loc``.
    """
    texts = {} if b"<" in record.inner else {"": _text(record.inner)}
    for found in islice(names.finditer(record.inner, 0, _LONGEST_RECORD), _MOST_FIELDS):
        name, prefix, rest, raw = found.group("name", "prefix", "rest", "text")
        if name:
            key = (name if prefix == record.prefix else b"%b:%b" % (prefix or b"", name)).decode().lower()
            if key == "link":
                key, raw = _link(rest, raw)
            if key not in texts and (text := _text(raw)):
                texts[key] = text
    return texts


def _link(rest: bytes, raw: bytes) -> tuple[str, bytes]:
    """The field name and address of a link; no address for a link to media, comments or a style sheet.

    A link to the entry in the format of the feed (rel=self) has its own field name.
    """
    attributes = _attributes(rest)
    relation = attributes.get("rel", b"").strip().lower().removeprefix(_RELATIONS)
    if relation in {b"", b"alternate"}:
        return "link", attributes.get("href") or raw
    return (_SELF, attributes.get("href", b"")) if relation == b"self" else ("link", b"")


def _attributes(rest: bytes) -> dict[str, bytes]:
    found = _ATTRIBUTE.finditer(rest[:_LONGEST_FIELD])
    return {one[1].decode().lower(): one[2] or one[3] or b"" for one in found}


def _text(raw: bytes) -> str:
    """The text of a field, without comments and with entities replaced."""
    raw = raw[:_LONGEST_FIELD]
    if b"<" not in raw:
        return _unescaped(raw).strip()
    pieces = ((piece["data"], piece["text"] or b"") for piece in _PIECE.finditer(raw))
    return "".join(
        _unescaped(text) if data is None else data.decode("utf-8", "replace") for data, text in pieces
    ).strip()


def _unescaped(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return turbohtml.unescape(_BARE.sub("&amp;", text)) if "&" in text else text
