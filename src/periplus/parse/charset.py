"""Detects the character encoding of a page and decodes it.

The order is that of the HTML standard: byte order mark, HTTP header, a declaration in the first 1,024 bytes, detection.
Labels mean what they mean in browsers, by the table of the WHATWG encoding standard: ``latin1`` is windows-1252. A
label that the table does not have is ignored. Labels such as ``iso-2022-kr`` name the encoding *replacement*: the whole
page becomes one U+FFFD, because those encodings can hide markup in ASCII text. turbohtml brings the table, the
``whatwg-`` codecs and the detector, a port of Firefox's chardetng with the same accuracy.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import turbohtml
from turbohtml.detect import detect  # its import registers the whatwg- codecs too

_PRESCAN = 1_024
_LONGEST_TYPE = 200  # characters of the header that are examined
_MARKS = (
    (b"\xef\xbb\xbf", 3, "utf-8"),
    (b"\xff\xfe", 2, "utf-16le"),
    (b"\xfe\xff", 2, "utf-16be"),
    (b"<\0?\0x\0", 0, "utf-16le"),
    (b"\0<\0?\0x", 0, "utf-16be"),
)
_HEADER_LABEL = re.compile(r"""charset\s*=\s*["']?\s*([A-Za-z0-9_:.-]{1,40})""", re.IGNORECASE)
_XML_LABEL = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z0-9_:.-]{1,40})["']""")
# The usual beginning of a page up to its charset declaration. The full prescan would give the same result.
_ATTRIBUTES = rb"""(?:\s+[\w:-]+(?:=(?:"[^"<>]*"|'[^'<>]*'|[^\s"'<>]+))?)*\s*/?>\s*"""
_UTF8_AT_ONCE = re.compile(
    rb"\s*(?:<\?[^<>]*>\s*)?(?:<!doctype[^<>]*>\s*)?<html%b(?:<head>\s*)?(?:<meta(?![^<>]*charset)%b)*"
    % (_ATTRIBUTES, _ATTRIBUTES)
    + rb"""<meta\s+(?:http-equiv=["']content-type["']\s+content=["']text/html;\s*)?charset=["']?utf-8["'\s/>]""",
    re.IGNORECASE,
)


def decode(body: bytes, content_type: str) -> str:
    """Decode a page; invalid bytes become U+FFFD, and the result has no lone surrogates."""
    length, encoding = _encoding(body, content_type)
    return _read(body[length:], encoding)


def as_utf8(body: bytes, content_type: str) -> bytes:
    """The page re-encoded as UTF-8; a page declared as UTF-8 is returned without validation."""
    length, encoding = _encoding(body, content_type)
    return body[length:] if encoding == "utf-8" else _read(body[length:], encoding).encode()


def _encoding(body: bytes, content_type: str) -> tuple[int, str]:
    """The length of the byte order mark, and the encoding of the rest."""
    for mark, length, encoding in _MARKS:
        if body.startswith(mark):
            return length, encoding
    return 0, _from_header(content_type[:_LONGEST_TYPE]) or _declared(body) or _guessed(body)


def _read(body: bytes, encoding: str) -> str:
    if encoding == "utf-8":
        return body.decode("utf-8", "replace")  # equal to the codec below, and five times as fast
    return body.decode(f"whatwg-{encoding}")


@lru_cache(maxsize=256)
def _from_header(content_type: str) -> str:
    found = _HEADER_LABEL.search(content_type)
    return _known(found[1].lower()) if found else ""


@lru_cache(maxsize=1024)
def _known(label: str) -> str:
    """The name of the encoding in lower case, or "" for a label that browsers do not know."""
    try:
        # codecs.lookup replaces "-" and ":" in a name by "_", so that it does not find 13 of the 228 labels.
        return (turbohtml.parse(b"", encoding=label, positions=False).encoding or "").lower()
    except LookupError:
        return ""


def _from_meta(document: turbohtml.Document) -> str:
    """The encoding that a <meta> declares, or "" if none does."""
    encoding = (document.encoding or "").lower()
    return encoding if document.encoding_confidence == "certain" or encoding == "replacement" else ""


def _declared(body: bytes) -> str:
    if _UTF8_AT_ONCE.match(body, 0, _PRESCAN):
        return "utf-8"
    head = body[:_PRESCAN]
    declared = _from_meta(turbohtml.parse(head, positions=False))  # turbohtml implements the prescan of the standard
    if declared:
        return declared
    found = _XML_LABEL.match(head)
    label = _known(found[1].decode("ascii").lower()) if found else ""
    return "utf-8" if label.startswith("utf-16") else label  # the label is readable as ASCII


def _guessed(body: bytes) -> str:
    if _is_utf8(body):
        return "utf-8"
    late = _from_meta(turbohtml.parse(body, positions=False))  # browsers also use a <meta> after the first 1,024 bytes
    return late or (detect(body).encoding or "utf-8").lower()


def _is_utf8(body: bytes) -> bool:
    """Whether the body is certainly UTF-8; the last character of a truncated body may be incomplete."""
    if b"\x1b" in body:
        return False  # ISO-2022-JP is ASCII with escape sequences
    try:
        text, length = codecs.utf_8_decode(body, "strict", False)
    except UnicodeDecodeError:
        return False
    return length == len(body) or not text.isascii()
