"""How does Ctrl-C or SIGTERM stop a command?

Both raise `Stopped` in the main thread, so that every `finally` and `with` block removes what is incomplete. Some
libraries drop an exception that is raised inside their callbacks; numba does so while it compiles. Therefore a timer
raises `Stopped` again until the command ends. A second signal ends the process at once.

SIGINT stays ignored when the parent process ignores it. `nohup` and shell scripts do that for background jobs.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_REPEAT_SECONDS = 0.5  # until `Stopped` is raised again
_SAME_SIGNAL_SECONDS = 1.0  # a second signal within this time counts as the same: `timeout` sends two
_SECOND_SIGNAL_MESSAGE = b"periplus: ended at once by a second signal. The next run removes incomplete files.\n"

Handler = Callable[[int, Any], None]


class Stopped(KeyboardInterrupt):
    """A signal stops the command."""

    def __init__(self, number: int) -> None:
        self.number = signal.Signals(number)
        super().__init__("interrupted" if number == signal.SIGINT else "terminated")

    @property
    def exit_code(self) -> int:
        """The exit code that shells report for the signal: 130 for SIGINT, 143 for SIGTERM."""
        return 128 + self.number


def is_ctrl_c_ignored() -> bool:
    """Whether SIGINT is ignored, as the parent process may have set."""
    return signal.getsignal(signal.SIGINT) == signal.SIG_IGN


def stop_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that stop a command: SIGTERM, and SIGINT unless it is ignored."""
    return (signal.SIGTERM,) if is_ctrl_c_ignored() else (signal.SIGINT, signal.SIGTERM)


@contextmanager
def handling(handler: Handler) -> Iterator[None]:
    """Call *handler* for the signals that stop a command, while the block lasts."""
    before = {number: signal.signal(number, handler) for number in stop_signals()}
    try:
        yield
    finally:
        for number, previous in before.items():
            signal.signal(number, previous)


@contextmanager
def stoppable() -> Iterator[None]:
    """Let signals raise `Stopped` in this block; it replaces any other exception of the block."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Python delivers signals to the main thread only
        return
    stop, hook = _Stop(), sys.unraisablehook
    before = signal.signal(signal.SIGALRM, stop.again)
    sys.unraisablehook = lambda dropped: None if isinstance(dropped.exc_value, Stopped) else hook(dropped)
    try:
        with handling(stop):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        sys.unraisablehook = hook
        if stop.number:
            raise Stopped(stop.number) from None


class _Stop:
    """The signal handler; it remembers the first signal."""

    def __init__(self) -> None:
        self.number = 0
        self._at = 0.0

    def __call__(self, number: int, frame: Any) -> None:
        del frame
        if not self.number:
            self.number, self._at = number, time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, _REPEAT_SECONDS, _REPEAT_SECONDS)
            raise Stopped(number)
        if time.monotonic() - self._at > _SAME_SIGNAL_SECONDS:
            os.write(2, _SECOND_SIGNAL_MESSAGE)
            os._exit(128 + number)

    def again(self, number: int, frame: Any) -> None:
        """Raise `Stopped` again when the timer fires, unless an exception is handled: it may be removing files."""
        del number, frame
        if sys.exc_info()[1] is None:
            raise Stopped(self.number)
