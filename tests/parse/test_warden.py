from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from parse.papers import bomb, pdf
from periplus.model import Reason
from periplus.parse.paper import Paper
from periplus.parse.warden import Trouble, Warden

_MIB = 1 << 20
_SHOW = b"BT /F 9 Tf 1 1 Td (aaaaaaaa) Tj ET\n"


@pytest.fixture
def warden() -> Iterator[Warden]:
    made = Warden(5, 512 * _MIB)
    yield made
    made.close()


def test_a_document_is_read_in_another_process(warden: Warden) -> None:
    answer = warden.read(pdf("#Periplus\nof the Red Sea", info="/Keywords(sea)"))
    assert isinstance(answer, Paper)
    assert (answer.title, answer.text, answer.keywords) == ("Periplus", "Periplus\nof the Red Sea", "sea")


def test_a_document_that_gives_nothing_has_a_reason(warden: Warden) -> None:
    answer = warden.read(b"%PDF-1.7 and nothing more")
    assert answer == Trouble(Reason.PDF_BROKEN, "PDFium finds no document in it")


def test_a_document_that_needs_too_much_memory_is_given_up(warden: Warden) -> None:
    answer = warden.read(bomb(b"q\n", 100_000_000))
    assert isinstance(answer, Trouble)
    assert answer.reason is Reason.PARSE_MEMORY
    assert isinstance(warden.read(pdf("next")), Paper)


def test_a_document_that_takes_too_long_is_given_up() -> None:
    warden = Warden(1, 1024 * _MIB)
    try:
        answer = warden.read(bomb(_SHOW, 1_000_000))
        assert isinstance(answer, Trouble)
        assert answer.reason is Reason.PARSE_TIME
        assert isinstance(warden.read(pdf("next")), Paper)
    finally:
        warden.close()


def test_a_long_life_does_not_shorten_the_time_of_a_document() -> None:
    warden = Warden(1, 512 * _MIB)
    try:
        for _ in range(5):
            assert isinstance(warden.read(bomb(_SHOW, 100_000)), Paper)  # a quarter of a second each
    finally:
        warden.close()


def test_a_reader_that_was_killed_is_replaced(warden: Warden) -> None:
    assert isinstance(warden.read(pdf("one")), Paper)
    assert warden._cell is not None
    os.kill(warden._cell._process.pid, signal.SIGKILL)
    assert isinstance(warden.read(pdf("two")), Paper)


def test_a_reader_that_stands_still_is_replaced() -> None:
    warden = Warden(0.2, 512 * _MIB)
    try:
        assert isinstance(warden.read(pdf("one")), Paper)
        assert warden._cell is not None
        os.kill(warden._cell._process.pid, signal.SIGSTOP)
        assert isinstance(warden.read(pdf("two")), Paper)
    finally:
        warden.close()


def test_a_large_document_passes_through_the_pipe(warden: Warden) -> None:
    assert isinstance(warden.read(pdf("small") + b"\n% " + b"x" * 31 * _MIB), Paper)


def test_threads_may_share_it(warden: Warden) -> None:
    answers: list[Paper | Trouble] = []
    threads = [
        threading.Thread(target=lambda text=f"sheet {number}": answers.append(warden.read(pdf(text))))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {answer.text for answer in answers if isinstance(answer, Paper)} == {f"sheet {n}" for n in range(8)}


def test_it_says_whether_the_kernel_fences_it_in(warden: Warden) -> None:
    assert isinstance(warden.fenced, bool)
