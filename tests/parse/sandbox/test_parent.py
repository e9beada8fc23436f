from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from parse.documents import answer, parser
from parse.pdfs import bomb, pdf
from parse.test_page import BOMBS
from periplus.config import Parsing
from periplus.model import Page, Reason
from periplus.parse.formats.pdf_page import DocumentProblem
from periplus.parse.sandbox.parent import Sandbox
from periplus.parse.sandbox.protocol import ParseRules

_MIB = 1 << 20
_SHOW = b"BT /F 9 Tf 1 1 Td (aaaaaaaa) Tj ET\n"


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    made = sandbox_with(5, 512)
    yield made
    made.close()


def sandbox_with(seconds: float, memory_mb: int) -> Sandbox:
    return Sandbox(ParseRules(Parsing(seconds=seconds, memory_mb=memory_mb), ("utm_*",), ("sid",)))


def read(sandbox: Sandbox, body: bytes, mime: str = "application/pdf") -> Page | DocumentProblem:
    return sandbox.read(answer(body, mime), full=True)


def is_read(result: Page | DocumentProblem) -> bool:
    return isinstance(result, Page) and result.problem is None


def test_a_document_is_read_in_another_process(sandbox: Sandbox) -> None:
    page = read(sandbox, pdf("#Periplus\nof the Red Sea", info="/Keywords(sea)"))
    assert isinstance(page, Page)
    assert (page.title, page.text, page.keywords) == ("Periplus", "Periplus\nof the Red Sea", "sea")


def test_an_unreadable_document_has_a_reason(sandbox: Sandbox) -> None:
    result = read(sandbox, b"%PDF-1.7 and nothing more")
    assert result == DocumentProblem(Reason.PDF_BROKEN, "PDFium cannot open the PDF").as_page()


def test_a_document_that_needs_too_much_memory_is_given_up(sandbox: Sandbox) -> None:
    result = read(sandbox, bomb(b"q\n", 100_000_000))
    assert (result.reason if isinstance(result, DocumentProblem) else result.problem) is Reason.PARSE_MEMORY
    assert is_read(read(sandbox, pdf("next")))


def test_a_document_that_takes_too_long_is_given_up() -> None:
    sandbox = sandbox_with(1, 1024)
    try:
        result = read(sandbox, bomb(_SHOW, 1_000_000))
        assert isinstance(result, DocumentProblem)
        assert result.reason is Reason.PARSE_TIME
        assert is_read(read(sandbox, pdf("next")))
    finally:
        sandbox.close()


def test_every_document_gets_the_full_cpu_time() -> None:
    sandbox = sandbox_with(1, 512)
    try:
        for _ in range(5):
            assert is_read(read(sandbox, bomb(_SHOW, 100_000)))  # a quarter of a second each
    finally:
        sandbox.close()


def test_a_killed_sandbox_is_replaced(sandbox: Sandbox) -> None:
    assert is_read(read(sandbox, pdf("one")))
    assert sandbox._process is not None
    os.kill(sandbox._process._process.pid, signal.SIGKILL)
    assert is_read(read(sandbox, pdf("two")))


def test_ctrl_c_in_a_terminal_does_not_reach_the_sandbox(sandbox: Sandbox) -> None:
    assert is_read(read(sandbox, pdf("one")))
    assert sandbox._process is not None
    assert os.getpgid(sandbox._process._process.pid) != os.getpgid(0)


def test_a_sandbox_that_a_service_manager_terminates_is_no_fault_of_the_document(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service manager sends SIGTERM to every process of the service, also to a new one."""
    start, left = sandbox._running_process, iter([signal.SIGTERM])

    def start_and_terminate() -> Any:
        process = start()
        for number in left:
            os.kill(process._process.pid, number)
        return process

    monkeypatch.setattr(sandbox, "_running_process", start_and_terminate)
    assert is_read(read(sandbox, pdf("one")))


def test_a_sandbox_that_hangs_is_replaced() -> None:
    sandbox = sandbox_with(0.2, 512)
    try:
        assert is_read(read(sandbox, pdf("one")))
        assert sandbox._process is not None
        os.kill(sandbox._process._process.pid, signal.SIGSTOP)
        assert is_read(read(sandbox, pdf("two")))
    finally:
        sandbox.close()


def test_a_large_document_passes_through_the_pipe(sandbox: Sandbox) -> None:
    assert is_read(read(sandbox, pdf("small") + b"\n% " + b"x" * 31 * _MIB))


def test_threads_may_share_it(sandbox: Sandbox) -> None:
    answers: list[Page | DocumentProblem] = []
    threads = [
        threading.Thread(target=lambda text=f"sheet {number}": answers.append(read(sandbox, pdf(text))))
        for number in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {page.text for page in answers if isinstance(page, Page)} == {f"sheet {n}" for n in range(8)}


def test_it_reports_whether_seccomp_is_active(sandbox: Sandbox) -> None:
    assert isinstance(sandbox.has_seccomp, bool)


# -- pages ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mime", ["text/html", "text/html; charset=shift_jis", "application/xhtml+xml", "text/plain"])
@pytest.mark.parametrize("full", [False, True])
def test_a_page_is_the_same_in_the_sandbox_and_outside(sandbox: Sandbox, mime: str, full: bool) -> None:
    body = '<title>Häfen</title><p lang=de>Schöne Häfen <a href="/a?utm_x=1&sid=3">dort</a><img src=a alt=b>'
    response = answer(body.encode("shift_jis", "replace") if "shift" in mime else body, mime, last_modified="2020")
    here = parser().parse(response) if full else parser().skim(response)
    assert here.text
    assert sandbox.read(response, full=full) == here


@pytest.mark.parametrize(
    "label", ["big5", "euc-jp", "euc-kr", "gb18030", "iso-2022-jp", "koi8-u", "macintosh", "utf-16be", "windows-1251"]
)
def test_every_charset_is_known_in_the_sandbox(sandbox: Sandbox, label: str) -> None:
    body = bytes(range(1, 256)) * 20
    response = answer(body, f"text/plain; charset={label}")
    assert sandbox.read(response, full=False) == parser().skim(response)


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_every_bomb_gives_the_same_page_in_the_sandbox(sandbox: Sandbox, name: str) -> None:
    response = answer(BOMBS[name])
    assert sandbox.read(response, full=True) == parser(aside_bytes=1 << 30).parse(response)


def test_a_page_that_takes_too_long_is_given_up() -> None:
    sandbox = sandbox_with(0.01, 512)
    sandbox._seconds = 0.0  # the kernel counts whole seconds
    try:
        body = BOMBS["many blocks"].encode() * 5
        result = read(sandbox, body, "text/html")
        assert isinstance(result, DocumentProblem)
        assert result.reason is Reason.PARSE_TIME
    finally:
        sandbox.close()


def test_a_page_that_needs_too_much_memory_is_given_up() -> None:
    sandbox = sandbox_with(5, 256)
    try:
        result = read(sandbox, b"<" * (16 * _MIB), "text/html")
        assert (result.reason if isinstance(result, DocumentProblem) else result.problem) is Reason.PARSE_MEMORY
        assert is_read(read(sandbox, b"<p>next", "text/html"))
    finally:
        sandbox.close()
