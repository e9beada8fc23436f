"""Runs many libcurl transfers in one asyncio event loop.

libcurl reports which sockets it waits for. `SocketSelector` watches those sockets, and the event loop watches only the
selector. So adding and removing a socket costs two system calls, and one wake-up serves all sockets that are ready.
(pycurl's `AsyncCurlMulti` lets the event loop watch every socket, which takes 30 µs more per request.)

Sockets are file descriptors. Interests and events are the constants of libcurl (`POLL_*`, `CSELECT_*`).
"""

from __future__ import annotations

import asyncio
import math
import select
from collections.abc import Callable
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import pycurl

_IN, _OUT = pycurl.CSELECT_IN, pycurl.CSELECT_OUT


class SocketSelector:
    """Watches sockets with the standard library's selector; an event loop can wait for it."""

    def __init__(self) -> None:
        self._selector = DefaultSelector()

    def fileno(self) -> int:
        """Return a descriptor that is readable when a watched socket is ready."""
        return self._selector.fileno()

    def watch(self, descriptor: int, interest: int) -> None:
        """Start watching a socket."""
        self._selector.register(descriptor, _selector_events(interest))

    def change(self, descriptor: int, interest: int) -> None:
        """Change the interest in a watched socket."""
        self._selector.modify(descriptor, _selector_events(interest))

    def unwatch(self, descriptor: int) -> None:
        """Stop watching a socket, which may be closed already."""
        self._selector.unregister(descriptor)

    def ready(self) -> list[tuple[int, int]]:
        """Return the sockets that are ready, each with its events."""
        return [
            (key.fd, (_IN if events & EVENT_READ else 0) | (_OUT if events & EVENT_WRITE else 0))
            for key, events in self._selector.select(0)
        ]

    def close(self) -> None:
        """Stop watching all sockets."""
        self._selector.close()


def _selector_events(interest: int) -> int:
    return (EVENT_READ if interest & pycurl.POLL_IN else 0) | (EVENT_WRITE if interest & pycurl.POLL_OUT else 0)


if hasattr(select, "epoll"):
    _READABLE, _WRITABLE = select.EPOLLIN, select.EPOLLOUT
    _EVENTS = {
        pycurl.POLL_IN: _READABLE,
        pycurl.POLL_OUT: _WRITABLE,
        pycurl.POLL_INOUT: _READABLE | _WRITABLE,
    }


class _EpollSelector(SocketSelector):
    """Watches sockets with epoll, at a third of the cost; Linux only."""

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def fileno(self) -> int:
        return self._epoll.fileno()

    def watch(self, descriptor: int, interest: int) -> None:
        self._epoll.register(descriptor, _EVENTS[interest])

    def change(self, descriptor: int, interest: int) -> None:
        self._epoll.modify(descriptor, _EVENTS[interest])

    def unwatch(self, descriptor: int) -> None:
        with suppress(OSError):
            self._epoll.unregister(descriptor)

    def ready(self) -> list[tuple[int, int]]:
        # A broken connection counts as readable and writable: libcurl gets the error when it reads or writes.
        return [
            (descriptor, (_IN if events & ~_WRITABLE else 0) | (_OUT if events & ~_READABLE else 0))
            for descriptor, events in self._epoll.poll(0)
        ]

    def close(self) -> None:
        self._epoll.close()


def socket_selector() -> SocketSelector:
    """Return the fastest selector of this system."""
    return _EpollSelector() if hasattr(select, "epoll") else SocketSelector()


_INTERESTS = frozenset({pycurl.POLL_IN, pycurl.POLL_OUT, pycurl.POLL_INOUT})
_TIMEOUT_EVENT = [(pycurl.SOCKET_TIMEOUT, 0)]  # no socket is ready; libcurl checks its timeouts


class SendingForbidden(Exception):  # noqa: N818  # not an error: the caller retries when it may send again
    """The transfer was not begun, or was aborted: this process may send nothing now."""

    def __init__(self) -> None:
        super().__init__("this process may not send requests now")


class CurlMulti:
    """Runs many transfers in one event loop.

    A process of a fleet may send only until its lease expires, and it may be stopped at any moment for any time. So
    *may_send* is asked each time before libcurl can write to a socket, not when a transfer begins.
    """

    def __init__(self, max_connections: int, may_send: Callable[[], bool] | None = None) -> None:
        """*max_connections*: limit of open connections, active and idle. *may_send*: None means always."""
        self._may_send = may_send
        self._loop = asyncio.get_running_loop()
        self._selector = socket_selector()
        self._watched: set[int] = set()  # sockets
        self._loop.add_reader(self._selector, self._on_sockets)
        self._active: dict[pycurl.Curl, asyncio.Future[None]] = {}
        self._immediate: asyncio.Handle | None = None  # libcurl wants to run at once
        self._deadline = math.inf  # when libcurl wants to run; time of the event loop
        self._timer: asyncio.TimerHandle | None = None  # for the deadline or earlier
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_interest)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timeout_change)

    def start(self, curl: pycurl.Curl) -> asyncio.Future[None]:
        """Start a transfer; the future is done when it ends, or raises `pycurl.error`.

        A caller that cancels the future has to call `cancel`. Raises `SendingForbidden`, also by the future.
        """
        if self._may_send is not None and not self._may_send():
            raise SendingForbidden
        self._multi.add_handle(curl)
        ended = self._active[curl] = self._loop.create_future()
        return ended

    def cancel(self, curl: pycurl.Curl) -> None:
        """Abort a transfer and close its connection."""
        if self._active.pop(curl, None) is not None:
            self._multi.remove_handle(curl)

    def abort_all(self) -> None:
        """Abort all transfers: their futures raise `SendingForbidden`."""
        for curl, ended in list(self._active.items()):
            self.cancel(curl)
            if not ended.done():
                ended.set_exception(SendingForbidden())

    def close(self) -> None:
        """Abort all transfers and close all connections."""
        for curl, ended in list(self._active.items()):
            self.cancel(curl)
            ended.cancel()
        self._multi.close()
        for handle in (self._immediate, self._timer):
            if handle is not None:
                handle.cancel()
        self._loop.remove_reader(self._selector)
        self._selector.close()

    # -- callbacks of libcurl -----------------------------------------------------------------------------------

    def _on_interest(self, what: int, descriptor: int, _multi: pycurl.CurlMulti, _data: object) -> None:
        if what not in _INTERESTS:
            if descriptor in self._watched:
                self._watched.discard(descriptor)
                self._selector.unwatch(descriptor)
        elif descriptor in self._watched:
            self._selector.change(descriptor, what)
        else:
            self._watched.add(descriptor)
            self._selector.watch(descriptor, what)

    def _on_timeout_change(self, milliseconds: int) -> None:
        if milliseconds == 0:
            self._immediate = self._immediate or self._loop.call_soon(self._on_immediate)
            return
        self._deadline = self._loop.time() + milliseconds / 1000 if milliseconds > 0 else math.inf
        if self._timer is None or self._timer.when() > self._deadline:
            self._set_timer()

    def _set_timer(self) -> None:
        """Set the timer to the deadline; a timer that fires early is only set again, which saves cancelling it."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(self._deadline, self._on_timer) if self._deadline < math.inf else None

    # -- events of the event loop ------------------------------------------------------------------------------

    def _on_immediate(self) -> None:
        self._immediate = None
        self._advance(_TIMEOUT_EVENT)

    def _on_timer(self) -> None:
        self._timer = None
        if self._loop.time() >= self._deadline:
            self._deadline = math.inf
            self._advance(_TIMEOUT_EVENT)
        else:
            self._set_timer()

    def _on_sockets(self) -> None:
        self._advance(self._selector.ready())

    def _advance(self, events: list[tuple[int, int]]) -> None:
        try:
            for descriptor, ready in events:
                if self._may_send is not None and not self._may_send():
                    self.abort_all()
                    return
                self._multi.socket_action(descriptor, ready)
        except pycurl.error as error:  # libcurl itself failed and reports no ended transfers any more
            for curl in list(self._active):
                self._end(curl, error)
            return
        _, succeeded, failed = self._multi.info_read()
        for curl in succeeded:
            self._end(curl, None)
        for curl, code, message in failed:
            self._end(curl, pycurl.error(code, message))

    def _end(self, curl: pycurl.Curl, error: pycurl.error | None) -> None:
        ended = self._active.pop(curl)
        self._multi.remove_handle(curl)
        if ended.done():
            return  # the future was cancelled, the transfer not yet
        if error is None:
            ended.set_result(None)
        else:
            ended.set_exception(error)
