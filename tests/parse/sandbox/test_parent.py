from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from parse.documents import answer, parser
from parse.papers import bomb, pdf
from parse.test_page import BOMBS
from periplus.config import Parsing
from periplus.model import Page, Reason
from periplus.parse.pdf_page import DocumentProblem
from periplus.parse.sandbox.parent import Sandbox
from periplus.parse.sandbox.protocol import ParseRules

_MIB = 1 << 20
_SHOW = b"BT /F 9 Tf 1 1 Td (aaaaaaaa) Tj ET\n"


@pytest.fixture
def warden() -> Iterator[Sandbox]:
    made = warden_with(5, 512)
    yield made
    made.close()


def warden_with(seconds: float, memory_mb: int) -> Sandbox:
    return Sandbox(ParseRules(Parsing(seconds=seconds, memory_mb=memory_mb), ("utm_*",), ("sid",)))


def read(warden: Sandbox, body: bytes, mime: str = "application/pdf") -> Page | DocumentProblem:
    return warden.read(answer(body, mime), closely=True)


def is_read(said: Page | DocumentProblem) -> bool:
    return isinstance(said, Page) and said.problem is None


def test_a_document_is_read_in_another_process(warden: Sandbox) -> None:
    page = read(warden, pdf("#Periplus\nof the Red Sea", info="/Keywords(sea)"))
    assert isinstance(page, Page)
    assert (page.title, page.text, page.keywords) == ("Periplus", "Periplus\nof the Red Sea", "sea")


def test_a_document_that_gives_nothing_has_a_reason(warden: Sandbox) -> None:
    said = read(warden, b"%PDF-1.7 and nothing more")
    assert said == DocumentProblem(Reason.PDF_BROKEN, "PDFium finds no document in it").as_page()


def test_a_document_that_needs_too_much_memory_is_given_up(warden: Sandbox) -> None:
    said = read(warden, bomb(b"q\n", 100_000_000))
    assert (said.reason if isinstance(said, DocumentProblem) else said.problem) is Reason.PARSE_MEMORY
    assert is_read(read(warden, pdf("next")))


def test_a_document_that_takes_too_long_is_given_up() -> None:
    warden = warden_with(1, 1024)
    try:
        said = read(warden, bomb(_SHOW, 1_000_000))
        assert isinstance(said, DocumentProblem)
        assert said.reason is Reason.PARSE_TIME
        assert is_read(read(warden, pdf("next")))
    finally:
        warden.close()


def test_a_long_life_does_not_shorten_the_time_of_a_document() -> None:
    warden = warden_with(1, 512)
    try:
        for _ in range(5):
            assert is_read(read(warden, bomb(_SHOW, 100_000)))  # a quarter of a second each
    finally:
        warden.close()


def test_a_reader_that_was_killed_is_replaced(warden: Sandbox) -> None:
    assert is_read(read(warden, pdf("one")))
    assert warden._cell is not None
    os.kill(warden._cell._process.pid, signal.SIGKILL)
    assert is_read(read(warden, pdf("two")))


def test_ctrl_c_in_a_terminal_does_not_reach_the_reader(warden: Sandbox) -> None:
    assert is_read(read(warden, pdf("one")))
    assert warden._cell is not None
    assert os.getpgid(warden._cell._process.pid) != os.getpgid(0)


def test_a_reader_that_a_service_manager_terminates_says_nothing_about_the_document(
    warden: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sends SIGTERM to every process of the service, also to one that has just been started."""
    begin, left = warden._ready, iter([signal.SIGTERM])

    def begin_and_be_terminated() -> Any:
        cell = begin()
        for number in left:
            os.kill(cell._process.pid, number)
        return cell

    monkeypatch.setattr(warden, "_ready", begin_and_be_terminated)
    assert is_read(read(warden, pdf("one")))


def test_a_reader_that_stands_still_is_replaced() -> None:
    warden = warden_with(0.2, 512)
    try:
        assert is_read(read(warden, pdf("one")))
        assert warden._cell is not None
        os.kill(warden._cell._process.pid, signal.SIGSTOP)
        assert is_read(read(warden, pdf("two")))
    finally:
        warden.close()


def test_a_large_document_passes_through_the_pipe(warden: Sandbox) -> None:
    assert is_read(read(warden, pdf("small") + b"\n% " + b"x" * 31 * _MIB))


def test_threads_may_share_it(warden: Sandbox) -> None:
    answers: list[Page | DocumentProblem] = []
    threads = [
        threading.Thread(target=lambda text=f"sheet {number}": answers.append(read(warden, pdf(text))))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {page.text for page in answers if isinstance(page, Page)} == {f"sheet {n}" for n in range(8)}


def test_it_says_whether_the_kernel_fences_it_in(warden: Sandbox) -> None:
    assert isinstance(warden.fenced, bool)


# -- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mime", ["text/html", "text/html; charset=shift_jis", "application/xhtml+xml", "text/plain"])
@pytest.mark.parametrize("closely", [False, True])
def test_a_page_is_the_same_wherever_it_is_read(warden: Sandbox, mime: str, closely: bool) -> None:
    body = '<title>Häfen</title><p lang=de>Schöne Häfen <a href="/a?utm_x=1&sid=3">dort</a><img src=a alt=b>'
    response = answer(body.encode("shift_jis", "replace") if "shift" in mime else body, mime, last_modified="2020")
    here = parser().parse(response) if closely else parser().skim(response)
    assert here.text
    assert warden.read(response, closely=closely) == here


@pytest.mark.parametrize(
    "label", ["big5", "euc-jp", "euc-kr", "gb18030", "iso-2022-jp", "koi8-u", "macintosh", "utf-16be", "windows-1251"]
)
def test_every_charset_is_known_behind_the_fence(warden: Sandbox, label: str) -> None:
    body = bytes(range(1, 256)) * 20
    response = answer(body, f"text/plain; charset={label}")
    assert warden.read(response, closely=False) == parser().skim(response)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_every_bomb_ends_behind_the_fence_and_is_read_as_elsewhere(warden: Sandbox, name: str) -> None:
    response = answer(BOMBS[name])
    assert warden.read(response, closely=True) == parser(aside_bytes=1 << 30).parse(response)


def test_a_page_that_takes_too_long_is_given_up() -> None:
    warden = warden_with(0.01, 512)
    warden._seconds = 0.0  # the kernel counts whole seconds
    try:
        body = BOMBS["many blocks"].encode() * 5
        said = read(warden, body, "text/html")
        assert isinstance(said, DocumentProblem)
        assert said.reason is Reason.PARSE_TIME
    finally:
        warden.close()


def test_a_page_that_needs_too_much_memory_is_given_up() -> None:
    warden = warden_with(5, 256)
    try:
        said = read(warden, b"<" * (16 * _MIB), "text/html")
        assert (said.reason if isinstance(said, DocumentProblem) else said.problem) is Reason.PARSE_MEMORY
        assert is_read(read(warden, b"<p>next", "text/html"))
    finally:
        warden.close()
