"""The program of the sandboxed child process.

The child receives documents on standard input and sends parsed pages on standard output until the input ends. The
first message holds the parsing rules.
"""

from __future__ import annotations

import logging
import resource
import sys
import time
from pathlib import Path
from typing import BinaryIO

from periplus.model import Response
from periplus.parse.formats.pdf import UnreadableError, read_pdf
from periplus.parse.formats.pdf_page import DocumentProblem, DocumentText
from periplus.parse.page import PageParser
from periplus.parse.sandbox.protocol import (
    LENGTH,
    REQUEST,
    RESPONSE,
    RULES,
    ParseRequest,
    ParseResponse,
    ParseRules,
    framed,
)
from periplus.parse.sandbox.seccomp import restrict_process
from periplus.url import Canonicalizer

# Parsed before seccomp is on, because Python loads codecs and modules at first use.
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
8 0 obj <</Title(Warm-up)/CreationDate(D:20200101)>> endobj
trailer <</Root 1 0 R/Info 8 0 R>>"""
_HTML = b"""<html lang=en><head><title>Warm-up</title><link rel=canonical href=/><meta name=date content=2020-01-01>
<script type="application/ld+json">{"datePublished": "2020-01-01"}</script></head><body><h1>All aboard</h1>
<p>The ferry leaves early in the morning.</p><a href=/next>Next</a><img src=a.png alt=Ferry></body></html>"""
_WARM_UP = {
    "application/pdf": [_PDF],
    "text/html": [_HTML, _HTML + b"\xe9\xe8", _HTML + b"\xff\xfe"],
    "application/xhtml+xml": [_HTML],
    "text/xml": [b"<?xml version='1.0' encoding='koi8-r'?><a>b</a>", b"<rss><channel/></rss>", b"<urlset></urlset>"],
    "text/plain; charset=utf-16be": [b"\0A"],
    "text/plain; charset=utf-16le": [b"A\0"],
    "text/plain": [b"All aboard", "Überfahrt".encode("latin-1"), b"\x1b$B4A"],
}


def serve(documents: BinaryIO, output: BinaryIO) -> None:
    """Restrict this process, report the result, and parse documents until the input ends."""
    logging.disable()  # stderr is discarded, and libraries log many warnings
    rules = RULES.validate_json(_receive(documents) or b"")
    parser = _parser(rules)
    for mime, bodies in _WARM_UP.items():
        for body in bodies:
            for full in (False, True):
                _parse(parser, ParseRequest("http://a/", {"content-type": mime}, full=full), body)
    _send(output, ParseResponse(has_seccomp=restrict_process(_address_space() + (rules.settings.memory_mb << 20))))
    while (request := _receive(documents)) is not None:
        body = _receive(documents) or b""
        _send(output, _parse(parser, REQUEST.validate_json(request), body))


def _parser(rules: ParseRules) -> PageParser:
    return PageParser(
        Canonicalizer(rules.tracking, rules.sessions),
        links_per_page=rules.links_per_page,
        settings=rules.settings,
        read_pdf=_read_pdf,
    )


def _read_pdf(body: bytes) -> DocumentText | DocumentProblem:
    try:
        return read_pdf(body)
    except UnreadableError as error:
        return DocumentProblem(error.reason, error.detail)


def _parse(parser: PageParser, request: ParseRequest, body: bytes) -> ParseResponse:
    response = Response(request.url, 0.0, 200, headers=request.headers, body=body, truncated=request.truncated)
    page = parser.parse(response) if request.full else parser.skim(response)
    return ParseResponse(page, time.process_time())


def _address_space() -> int:
    """Bytes of address space used before the first document."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _receive(source: BinaryIO) -> bytes | None:
    size = source.read(LENGTH.size)
    return source.read(*LENGTH.unpack(size)) if size else None


def _send(output: BinaryIO, response: ParseResponse) -> None:
    output.write(framed(RESPONSE.dump_json(response)))
    output.flush()


def main() -> None:
    """Entry point of the child process."""
    serve(sys.stdin.buffer, sys.stdout.buffer)


if __name__ == "__main__":
    main()
