"""What runs inside the fence?

One document comes in through standard input, the page it is goes out through standard output, and so on until the input
ends. The first message is the rules by which to read.
"""

from __future__ import annotations

import logging
import resource
import sys
import time
from pathlib import Path
from typing import BinaryIO

from periplus.model import Response
from periplus.parse.page import PageParser
from periplus.parse.pdf import UnreadableError, read_pdf
from periplus.parse.pdf_page import DocumentProblem, DocumentText
from periplus.parse.sandbox.protocol import (
    ANSWER,
    LENGTH,
    ORDER,
    RULES,
    ParseRequest,
    ParseResponse,
    ParseRules,
    framed,
)
from periplus.parse.sandbox.seccomp import restrict_process
from periplus.url import Canonicalizer

# Read before the fence is shut, because codecs and modules are loaded when they are first needed.
_PDF = rb"""%PDF-1.4
1 0 obj <</Type/Catalog/Pages 2 0 R/Lang(en)/Outlines 6 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Contents 4 0 R/Annots[<</Type/Annot/Subtype/Link/Rect[0 0 99 99]
/A<</S/URI/URI(http://a/)>> >>]/Resources<</Font<</F 5 0 R>> >> >> endobj
4 0 obj <</Length 36>> stream
BT /F 9 Tf 9 9 Td (All aboard) Tj ET
endstream endobj
5 0 obj <</Type/Font/Subtype/Type1/BaseFont/Helvetica>> endobj
6 0 obj <</First 7 0 R/Last 7 0 R/Count 1>> endobj
7 0 obj <</Title(Deck)/Parent 6 0 R>> endobj
8 0 obj <</Title(Rehearsal)/CreationDate(D:20200101)>> endobj
trailer <</Root 1 0 R/Info 8 0 R>>"""
_HTML = b"""<html lang=en><head><title>Rehearsal</title><link rel=canonical href=/><meta name=date content=2020-01-01>
<script type="application/ld+json">{"datePublished": "2020-01-01"}</script></head><body><h1>All aboard</h1>
<p>The ferry leaves early in the morning.</p><a href=/next>Next</a><img src=a.png alt=Ferry></body></html>"""
_REHEARSAL = {
    "application/pdf": [_PDF],
    "text/html": [_HTML, _HTML + b"\xe9\xe8", _HTML + b"\xff\xfe"],
    "application/xhtml+xml": [_HTML],
    "text/xml": [b"<?xml version='1.0' encoding='koi8-r'?><a>b</a>", b"<rss><channel/></rss>", b"<urlset></urlset>"],
    "text/plain; charset=utf-16be": [b"\0A"],
    "text/plain; charset=utf-16le": [b"A\0"],
    "text/plain": [b"All aboard", "Überfahrt".encode("latin-1"), b"\x1b$B4A"],
}


def serve(documents: BinaryIO, answers: BinaryIO) -> None:
    """Fence this process in, say how well, and read documents until there are no more."""
    logging.disable()  # libraries warn about every oddity of a document, to an output that nobody reads
    rules = RULES.validate_json(_message(documents) or b"")
    parser = _parser(rules)
    for mime, bodies in _REHEARSAL.items():
        for body in bodies:
            for closely in (False, True):
                _answered(parser, ParseRequest("http://a/", {"content-type": mime}, closely=closely), body)
    _send(answers, ParseResponse(fenced=restrict_process(_size() + (rules.settings.memory_mb << 20))))
    while (order := _message(documents)) is not None:
        body = _message(documents) or b""
        _send(answers, _answered(parser, ORDER.validate_json(order), body))


def _parser(rules: ParseRules) -> PageParser:
    return PageParser(
        Canonicalizer(rules.tracking, rules.sessions),
        links_per_page=rules.links_per_page,
        settings=rules.settings,
        read_paper=_read_paper,
    )


def _read_paper(body: bytes) -> DocumentText | DocumentProblem:
    try:
        return read_pdf(body)
    except UnreadableError as error:
        return DocumentProblem(error.reason, error.detail)


def _answered(parser: PageParser, order: ParseRequest, body: bytes) -> ParseResponse:
    response = Response(order.url, 0.0, 200, headers=order.headers, body=body, truncated=order.truncated)
    page = parser.parse(response) if order.closely else parser.skim(response)
    return ParseResponse(page, time.process_time())


def _size() -> int:
    """Bytes of address space that this process takes before it has read anything."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _message(source: BinaryIO) -> bytes | None:
    size = source.read(LENGTH.size)
    return source.read(*LENGTH.unpack(size)) if size else None


def _send(answers: BinaryIO, answer: ParseResponse) -> None:
    answers.write(framed(ANSWER.dump_json(answer)))
    answers.flush()


def main() -> None:
    """The life of the process."""
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
