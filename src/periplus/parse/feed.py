"""Which pages does a feed announce?

RSS of every version and Atom. Feeds and sitemaps are lists of records in XML, and many are broken: a bare ``&``, a tag
not closed, a warning of the server above the first line, an end cut off. An XML parser stops there; so the few tags
that matter are looked for instead, and what stands between them cannot stop the reading. Nothing that a document
declares is believed: no DTD is read, and no entity is replaced but the characters of HTML.
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
MOST = 50_000  # records of a document: the same
_MOST_MARKS = 3_000_000  # "<" in a document: one in 17 bytes of the largest, which would be all tags
_MOST_TAGS = 1_000_000  # that start and end records: ten times what the largest document needs
_MOST_ROOTS = 8  # <rss>, <channel> and the like
_MOST_FIELDS = 30  # of a record
_LONGEST_RECORD = 1024 * 1024  # bytes in which its fields are looked for
_LONGEST_FIELD = 16_384  # bytes
_LARGEST_GUESSED = 2 * 1024 * 1024  # bytes; a larger document is in UTF-8, or in UTF-16 with a mark, or unreadable

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, b"<\0?\0x\0", b"\0<\0?\0x")
_LITERAL = rb"!--.*?(?:-->|\Z)|!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)"
_UNREAD = _LITERAL + rb"|!DOCTYPE[^\[>]*+(?:\[.*?(?:\]\s*+>|\Z)|>|\Z)"
_TEXT = rb"(?:[^<]++|<!--.*?(?:-->|\Z)|<!\[CDATA\[.*?(?:\]\]>|\Z)){0,20}"
_PIECE = re.compile(rb"<(?:%b)|(?P<text>[^<]++|<)" % _LITERAL, re.DOTALL)
_BARE = re.compile(r"&(?!#?\w{1,31};)")  # in ?a=1&copy=2 there is no sign of copyright
_ATTRIBUTE = re.compile(rb"""(?<![\w:.-])([\w:.-]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")


def record_tags(*names: str) -> re.Pattern[bytes]:
    """Finds where these elements begin and end, in any namespace; without a name, also what cannot hold them."""
    tag = rb"(?P<end>/)?(?:(?P<prefix>[\w.-]++):)?(?P<name>%b)(?=[\s/>])(?P<rest>[^<>]*+)>?" % "|".join(names).encode()
    return re.compile(rb"<(?!<)(?:%b|%b)" % (_UNREAD, tag), re.DOTALL | re.IGNORECASE)


def field_tags(*names: str, asides: str = "!") -> re.Pattern[bytes]:
    """Finds where these elements begin, in any namespace, with their text; an aside is passed over with its content."""
    aside = rb"(?P<aside>(?:[\w.-]++:)?(?:%b))(?=[\s>])[^<>]*+(?<!/)>.*?(?:</(?P=aside)\s*+>|\Z)" % asides.encode()
    tag = rb"(?:(?P<prefix>[\w.-]++):)?(?P<name>%b)(?=[\s/>])(?P<rest>[^<>]*+)>?" % "|".join(names).encode()
    return re.compile(rb"<(?!<)(?:%b|%b(?P<text>%b)|%b)" % (_UNREAD, tag, _TEXT, aside), re.DOTALL | re.IGNORECASE)


_RECORDS = record_tags("rss", "rdf", "feed", "channel", "item", "entry")
_PUBLISHED = ("pubdate", "published", "dc:date", "issued", "created")
_UPDATED = ("updated", "modified")
# What stands in one of these is about something else: the feed that an entry was taken from, a picture, the text.
_ASIDES = "source|image|textinput|content|description|summary"
_FIELDS = field_tags("title", "link", "guid", "id", "date", *_PUBLISHED, *_UPDATED, asides=_ASIDES)


class FeedEntry(NamedTuple):
    """One page that a feed announces."""

    link: str  # canonical
    title: str = ""
    published: float | None = None  # seconds since the epoch
    updated: float | None = None  # the same, where a feed tells it apart


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed says, as far as finding pages is concerned."""

    title: str = ""
    entries: tuple[FeedEntry, ...] = ()  # in document order, each page once
    left_out: int = 0  # entries without a web address, or past the limit


class Record(NamedTuple):
    """One element of a list, or the part of the list before its first element."""

    name: str  # in lower case
    prefix: bytes | None  # of its namespace
    rest: bytes  # of its tag
    inner: bytes


def read_feed(body: bytes, url: str, canonicalizer: Canonicalizer) -> Feed:
    """The pages that a feed at *url* announces; a body that makes no sense announces none."""
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
    said = fields(record, _FIELDS)
    link = said.get("link", "")
    page = canonicalizer.join(_base(record, base, canonicalizer), link) if 0 < len(link) <= ADDRESS else None
    # An identifier is often an address, whether or not it claims to be one.
    page = page or canonicalizer.canonical((said.get("guid") or said.get("id", ""))[:ADDRESS])
    if page is None:
        return None
    return FeedEntry(page, squeeze(said.get("title", ""), TITLE), _date(said, _PUBLISHED), _date(said, _UPDATED))


def _date(said: dict[str, str], names: tuple[str, ...]) -> float | None:
    return next((at for name in names if (at := epoch(said.get(name, ""))) is not None), None)


def _base(record: Record, base: str, canonicalizer: Canonicalizer) -> str:
    href = _text(_attributes(record.rest).get("xml:base", b""))
    return (canonicalizer.join(base, href) if 0 < len(href) <= ADDRESS else None) or base


def utf8(body: bytes) -> bytes:
    """The same document in UTF-8, without a mark and without NULs; of one that is nothing but tags, a part."""
    if len(body) <= _LARGEST_GUESSED or body.startswith(_WIDE):
        body = decode(body, "").encode()
    data = body.removeprefix(codecs.BOM_UTF8).replace(b"\0", b"")
    return data[: len(data) // (data.count(b"<") // _MOST_MARKS + 1)]


def records(data: bytes, names: re.Pattern[bytes]) -> Iterator[Record]:
    """The elements that *names* finds, in document order; each ends where the next such tag begins, or its own."""
    opened = None
    for found in islice((tag for tag in names.finditer(data) if tag["name"]), _MOST_TAGS):
        if opened:
            yield _record(opened, data[opened.end() : found.start()])
        opened = None if found["end"] else found
    if opened:
        inner = data[opened.end() :]  # the document breaks off, and half an address would be another one
        yield _record(opened, inner[: max(inner.rfind(b"<"), 0)])


def _record(tag: re.Match[bytes], inner: bytes) -> Record:
    return Record(tag["name"].decode().lower(), tag["prefix"], tag["rest"], inner)


def fields(record: Record, names: re.Pattern[bytes]) -> dict[str, str]:
    """The texts in a record, by name: the first of each that is not empty; under "", that of a record without tags.

    A name from another namespace than the record's has its prefix: the ``loc`` of an image is ``image:loc``.
    """
    texts = {} if b"<" in record.inner else {"": _text(record.inner)}
    for found in islice(names.finditer(record.inner, 0, _LONGEST_RECORD), _MOST_FIELDS):
        name, prefix, rest, raw = found.group("name", "prefix", "rest", "text")
        if name:
            key = (name if prefix == record.prefix else b"%b:%b" % (prefix or b"", name)).decode().lower()
            if key not in texts:
                text = _text((_alternate(rest) if key == "link" else b"") or raw)
                if text:
                    texts[key] = text
    return texts


def _alternate(rest: bytes) -> bytes:
    """The page that a link of Atom leads to; one to the feed itself, to a picture or to comments is not meant."""
    said = _attributes(rest)
    return said.get("href", b"") if said.get("rel", b"alternate").lower() == b"alternate" else b""


def _attributes(rest: bytes) -> dict[str, bytes]:
    found = _ATTRIBUTE.finditer(rest[:_LONGEST_FIELD])
    return {one[1].decode().lower(): one[2] or one[3] or b"" for one in found}


def _text(raw: bytes) -> str:
    """The characters that are meant."""
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
