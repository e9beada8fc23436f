"""The process behind the fence answers one document after the other."""

from __future__ import annotations

import subprocess
import sys

from parse.papers import pdf
from periplus.model import Page, Reason
from periplus.parse.sandbox.protocol import ANSWER, LENGTH, ORDER, RULES, ParseRequest, ParseRules, framed

PDF = {"content-type": "application/pdf"}


def _talk(*documents: bytes) -> list[Page | None]:
    order = framed(ORDER.dump_json(ParseRequest("http://a.test/", PDF)))
    sent = framed(RULES.dump_json(ParseRules())) + b"".join(order + framed(document) for document in documents)
    command = [sys.executable, "-m", "periplus.parse.sandbox.child"]
    child = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True)
    answers, rest = [], child.stdout
    while rest:
        (length,) = LENGTH.unpack(rest[: LENGTH.size])
        answers.append(ANSWER.validate_json(rest[LENGTH.size : LENGTH.size + length]).page)
        rest = rest[LENGTH.size + length :]
    return answers


def test_each_document_is_answered_in_turn_and_the_end_of_input_is_the_end() -> None:
    hello, *pages = _talk(pdf("one"), b"nothing", pdf("three"))
    assert hello is None
    assert [page and (page.text, page.problem) for page in pages] == [
        ("one", None),
        ("", Reason.PDF_BROKEN),
        ("three", None),
    ]


def test_nothing_asked_is_nothing_answered() -> None:
    assert len(_talk()) == 1
