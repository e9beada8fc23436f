"""A signal stops a command soon, after it has cleaned up, whatever libraries do with the exception."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest

from periplus import signals
from periplus.signals import Stopped, handling, stop_signals, stoppable

BOTH = [signal.SIGINT, signal.SIGTERM]


@pytest.fixture
def short_repeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signals, "_REPEAT_SECONDS", 0.02)


@pytest.fixture
def ctrl_c_ignored() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


def exit_code(command: Callable[[], None]) -> int:
    """Return the exit code of a stopped command."""
    with pytest.raises(Stopped) as caught, stoppable():
        command()
    return caught.value.exit_code


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_exit_code_is_that_of_the_signal(number: int, code: int) -> None:
    assert exit_code(lambda: signal.raise_signal(number)) == code


@pytest.mark.parametrize("number", BOTH)
def test_a_library_that_drops_the_exception_only_delays_it(
    short_repeat: None, number: int, capfd: pytest.CaptureFixture[str]
) -> None:
    callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))

    ended = []

    def command() -> None:
        callback()
        time.sleep(10)
        ended.append("undisturbed")

    assert exit_code(command) == 128 + number
    assert not ended
    assert capfd.readouterr().err == ""


def test_other_dropped_exceptions_are_still_reported() -> None:
    callback = ctypes.CFUNCTYPE(None)(lambda: int("a mistake"))
    reported: list[object] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda dropped: reported.append(dropped.exc_value)
    try:
        with stoppable():
            callback()
    finally:
        sys.unraisablehook = before
    assert [type(error) for error in reported] == [ValueError]


@pytest.mark.usefixtures("short_repeat")
def test_cleaning_up_is_not_interrupted() -> None:
    cleaned = []

    def command() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            time.sleep(0.2)
            cleaned.append("all")

    assert exit_code(command) == 143
    assert cleaned == ["all"]


def test_another_exception_raised_by_a_library_is_no_error() -> None:
    def command() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except Stopped:
            raise RuntimeError("Query interrupted") from None

    assert exit_code(command) == 130


@pytest.mark.usefixtures("short_repeat")
def test_a_command_that_catches_the_exception_still_counts_as_stopped() -> None:
    def command() -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except Stopped:
            time.sleep(0.1)

    assert exit_code(command) == 130


def test_without_a_signal_nothing_changes() -> None:
    before = [signal.getsignal(number) for number in (*BOTH, signal.SIGALRM)], sys.unraisablehook
    with stoppable():
        assert signal.getsignal(signal.SIGTERM) != signal.SIG_DFL
    with pytest.raises(ValueError, match="a mistake"), stoppable():
        raise ValueError("a mistake")
    assert ([signal.getsignal(number) for number in (*BOTH, signal.SIGALRM)], sys.unraisablehook) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_a_signal_that_comes_twice_at_once_is_one_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    """`timeout` sends its signal to the process and to the group of the process."""
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)

    def command() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGTERM)

    assert exit_code(command) == 143
    assert not ended


SLOW_TO_CLEAN_UP = """
import time
from periplus.signals import stoppable
with stoppable():
    try:
        print("begun", flush=True)
        time.sleep(60)
    finally:
        print("cleaning", flush=True)
        time.sleep(60)
"""


@pytest.mark.slow
def test_a_second_signal_ends_the_process_at_once() -> None:
    command = [sys.executable, "-c", SLOW_TO_CLEAN_UP]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "begun\n"
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "cleaning\n"
        time.sleep(signals._SAME_SIGNAL_SECONDS + 0.1)
        child.send_signal(signal.SIGTERM)
        _, err = child.communicate(timeout=20)
    assert child.returncode == 143
    assert err.count("\n") == 1
    assert err.startswith("periplus: ended at once")


# -- started in the background --------------------------------------------------------------------------------------


@pytest.mark.usefixtures("ctrl_c_ignored")
def test_ctrl_c_stays_ignored_when_the_parent_process_ignores_it() -> None:
    assert stop_signals() == (signal.SIGTERM,)
    received: list[int] = []
    with stoppable():
        signal.raise_signal(signal.SIGINT)
        with handling(lambda number, _: received.append(number)):
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)
    assert received == [signal.SIGTERM]
    assert exit_code(lambda: signal.raise_signal(signal.SIGTERM)) == 143
