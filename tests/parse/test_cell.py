"""The process behind the fence answers one document after the other."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import orjson

from parse.papers import pdf
from periplus.parse.wire import LENGTH, ORDER, RULES, Order, Rules, framed

PDF = {"content-type": "application/pdf"}


def _talk(*documents: bytes) -> list[dict[str, Any]]:
    order = framed(ORDER.dump_json(Order("http://a.test/", PDF)))
    sent = framed(RULES.dump_json(Rules())) + b"".join(order + framed(document) for document in documents)
    command = [sys.executable, "-m", "periplus.parse.cell"]
    child = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True)
    answers, rest = [], child.stdout
    while rest:
        (length,) = LENGTH.unpack(rest[: LENGTH.size])
        answers.append(orjson.loads(rest[LENGTH.size : LENGTH.size + length]))
        rest = rest[LENGTH.size + length :]
    return answers


def test_each_document_is_answered_in_turn_and_the_end_of_input_is_the_end() -> None:
    hello, first, second, third = _talk(pdf("one"), b"nothing", pdf("three"))
    assert hello["page"] is None
    assert (first["page"]["text"], first["page"]["problem"]) == ("one", None)
    assert second["page"]["problem"] == "pdf_broken"
    assert third["page"]["text"] == "three"


def test_nothing_asked_is_nothing_answered() -> None:
    assert len(_talk()) == 1
