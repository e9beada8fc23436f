"""The process behind the fence answers one document after the other."""

from __future__ import annotations

import subprocess
import sys

import orjson

from parse.papers import pdf
from periplus.parse.paper import LENGTH

MEMORY = 512 << 20


def _talk(*documents: bytes) -> list[dict[str, object]]:
    sent = b"".join(LENGTH.pack(len(document)) + document for document in documents)
    command = [sys.executable, "-I", "-m", "periplus.parse.cell", str(MEMORY)]
    child = subprocess.run(command, input=sent, capture_output=True, timeout=60, check=True)
    answers, rest = [], child.stdout
    while rest:
        (length,) = LENGTH.unpack(rest[: LENGTH.size])
        answers.append(orjson.loads(rest[LENGTH.size : LENGTH.size + length]))
        rest = rest[LENGTH.size + length :]
    return answers


def test_each_document_is_answered_in_turn_and_the_end_of_input_is_the_end() -> None:
    hello, first, second, third = _talk(pdf("one"), b"nothing", pdf("three"))
    assert set(hello) == {"fenced"}
    assert isinstance(first["paper"], dict)
    assert first["paper"]["text"] == "one"
    assert second["reason"] == "pdf_broken"
    assert isinstance(third["paper"], dict)
    assert third["paper"]["text"] == "three"


def test_nothing_asked_is_nothing_answered() -> None:
    assert len(_talk()) == 1
