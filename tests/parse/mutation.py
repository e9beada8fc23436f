"""Damaged documents: real ones with bytes changed, repeated, removed or mixed."""

from __future__ import annotations

import lzma
import random
import tarfile
from collections.abc import Iterator, Sequence
from functools import cache

from parse.pdfs import pdf
from shared_data import is_there, shared

_LARGEST = 40_000  # bytes of a page that is mutated thousands of times
_HOSTILE = [b"\0", b"<", b">", b"\xff\xfe", b"&#x", b"<![CDATA[", b"<!--", b"'", b'"', b"\x1b$B", b"<svg>", b"<table>"]

_MADE = (
    b"<!doctype html><html lang=en><head><meta charset=utf-8><title>Muziris</title><base href=/x/></head><body>"
    b"<nav><ul><li><a href=1>one</a></ul></nav><main><h1>Port</h1><p>Ships wait for the <b>tide</b>.</p>"
    b"<table><tr><td>a</table><img src=a.png alt=ship>"
    b'<script type=application/ld+json>{"datePublished": "2024-05-17"}</script></main></body>'
)
HTML = [
    _MADE,
    b"<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><body><p/><a href='x'>y</a></body></html>",
]
PDF = [
    pdf("#Title\nsome words\nmore words", "second sheet", info="/Title(Report)/CreationDate(D:20240517)"),
    pdf("x", catalog="/Lang(en)", annotations="<</Subtype/Link/Rect[0 0 9 9]/A<</S/URI/URI(http://a/)>> >>"),
]


@cache
def files(archive: str, largest: int) -> list[bytes]:
    """The files of an archive of the shared data, sorted by name."""
    with lzma.open(shared(archive)) as stream, tarfile.open(fileobj=stream, mode="r|") as entries:
        found = sorted((entry.name, file.read()) for entry in entries if (file := entries.extractfile(entry)))
    return [content for _, content in found if len(content) <= largest]


def pages() -> Sequence[bytes]:
    """Real pages, if they are there, and some made for this."""
    return [*HTML, *(files("html/real_pages.tar.xz", _LARGEST) if is_there() else [])]


def pdfs() -> Sequence[bytes]:
    """Real PDFs, if they are there, and some made for this."""
    return [*PDF, *(files("pdf/samples.tar.xz", _LARGEST) if is_there() else [])]


def mutations(originals: Sequence[bytes], seed: int, count: int) -> Iterator[bytes]:
    """*count* damaged copies, the same for the same seed."""
    chooser = random.Random(seed)
    for _ in range(count):
        content = bytearray(chooser.choice(originals))
        for _ in range(chooser.choice((1, 1, 2, 4, 16))):
            _damage(content, originals, chooser)
        yield bytes(content)


def _damage(content: bytearray, originals: Sequence[bytes], chooser: random.Random) -> None:
    start = chooser.randrange(len(content) + 1)
    end = min(len(content), start + int(2 ** chooser.uniform(0, 12)))
    match chooser.randrange(6):
        case 0:
            content[start:end] = chooser.randbytes(end - start)
        case 1:
            del content[start:end]
        case 2:
            content[start:start] = content[start:end] * chooser.choice((1, 2, 8))
        case 3:
            other = chooser.choice(originals)
            place = chooser.randrange(len(other) + 1)
            content[start:start] = other[place : place + end - start]
        case 4:
            content[start:start] = chooser.choice(_HOSTILE) * chooser.choice((1, 3, 500))
        case _:
            if start < len(content):
                content[start] ^= 1 << chooser.randrange(8)
