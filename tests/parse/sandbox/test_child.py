"""The sandbox process parses one document after the other."""

from __future__ import annotations

import subprocess
import sys

from parse.pdfs import pdf
from periplus.model import Page, Reason
from periplus.parse.sandbox.protocol import LENGTH, REQUEST, RESPONSE, RULES, ParseRequest, ParseRules, framed

PDF = {"content-type": "application/pdf"}


def _exchange(*documents: bytes) -> list[Page | None]:
    request = framed(REQUEST.dump_json(ParseRequest("http://a.test/", PDF)))
    sent = framed(RULES.dump_json(ParseRules())) + b"".join(request + framed(document) for document in documents)
    command = [sys.executable, "-m", "periplus.parse.sandbox.child"]
    child = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True)
    received, rest = [], child.stdout
    while rest:
        (length,) = LENGTH.unpack(rest[: LENGTH.size])
        received.append(RESPONSE.validate_json(rest[LENGTH.size : LENGTH.size + length]).page)
        rest = rest[LENGTH.size + length :]
    return received


def test_each_document_gets_a_response_and_the_end_of_input_ends_the_process() -> None:
    hello, *pages = _exchange(pdf("one"), b"nothing", pdf("three"))
    assert hello is None
    assert [page and (page.text, page.problem) for page in pages] == [
        ("one", None),
        ("", Reason.PDF_BROKEN),
        ("three", None),
    ]


def test_without_a_document_only_the_first_response_is_sent() -> None:
    assert len(_exchange()) == 1
