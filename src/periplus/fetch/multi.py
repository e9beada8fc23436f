"""How do many transfers of libcurl share one event loop?

libcurl names the sockets that it waits for. A lookout of our own watches them, and the loop watches nothing but that: a
socket that is waited for, and then no longer, costs two system calls, and one wake-up serves all that are ready.
(pycurl's `AsyncCurlMulti` has the loop watch every socket by itself, and takes 30 us more for each request.)

Which of the sockets that libcurl waits for are ready?

Sockets go by their descriptors; what is waited for, and what is ready, is said in the words of libcurl.
"""

from __future__ import annotations

import asyncio
import math
import select
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import pycurl

_IN, _OUT = pycurl.CSELECT_IN, pycurl.CSELECT_OUT


class SocketSelector:
    """Watches sockets by the best means that the standard library has for the system; an event loop can wait for it."""

    def __init__(self) -> None:
        self._selector = DefaultSelector()

    def fileno(self) -> int:
        """A descriptor that is readable when a socket is ready."""
        return self._selector.fileno()

    def watch(self, descriptor: int, interest: int) -> None:
        """From now on."""
        self._selector.register(descriptor, _selected(interest))

    def change(self, descriptor: int, interest: int) -> None:
        """Something else is waited for."""
        self._selector.modify(descriptor, _selected(interest))

    def forget(self, descriptor: int) -> None:
        """No longer; the socket may be closed already."""
        self._selector.unregister(descriptor)

    def ready(self) -> list[tuple[int, int]]:
        """Those that are ready now, and for what."""
        return [
            (key.fd, (_IN if events & EVENT_READ else 0) | (_OUT if events & EVENT_WRITE else 0))
            for key, events in self._selector.select(0)
        ]

    def close(self) -> None:
        """Watch nothing any more."""
        self._selector.close()


def _selected(interest: int) -> int:
    return (EVENT_READ if interest & pycurl.POLL_IN else 0) | (EVENT_WRITE if interest & pycurl.POLL_OUT else 0)


if hasattr(select, "epoll"):
    _READABLE, _WRITABLE = select.EPOLLIN, select.EPOLLOUT
    _EVENTS = {
        pycurl.POLL_IN: _READABLE,
        pycurl.POLL_OUT: _WRITABLE,
        pycurl.POLL_INOUT: _READABLE | _WRITABLE,
    }


class _LinuxLookout(SocketSelector):
    """The same at a third of the cost, where there is epoll."""

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def fileno(self) -> int:
        return self._epoll.fileno()

    def watch(self, descriptor: int, interest: int) -> None:
        self._epoll.register(descriptor, _EVENTS[interest])

    def change(self, descriptor: int, interest: int) -> None:
        self._epoll.modify(descriptor, _EVENTS[interest])

    def forget(self, descriptor: int) -> None:
        with suppress(OSError):
            self._epoll.unregister(descriptor)

    def ready(self) -> list[tuple[int, int]]:
        # A broken connection is ready for both: libcurl finds out what is wrong when it reads or writes.
        return [
            (descriptor, (_IN if events & ~_WRITABLE else 0) | (_OUT if events & ~_READABLE else 0))
            for descriptor, events in self._epoll.poll(0)
        ]

    def close(self) -> None:
        self._epoll.close()


def socket_selector() -> SocketSelector:
    """The best for this system."""
    return _LinuxLookout() if hasattr(select, "epoll") else SocketSelector()


_WAITED_FOR = frozenset({pycurl.POLL_IN, pycurl.POLL_OUT, pycurl.POLL_INOUT})
_NOW = [(pycurl.SOCKET_TIMEOUT, 0)]  # no socket is ready, but time has passed


class CurlMulti:
    """Runs many transfers in one event loop."""

    def __init__(self, connections_kept: int) -> None:
        """*connections_kept*: how many may stay open, those that are used now among them."""
        self._loop = asyncio.get_running_loop()
        self._lookout = socket_selector()
        self._watched: set[int] = set()  # sockets
        self._loop.add_reader(self._lookout, self._on_sockets)
        self._under_way: dict[pycurl.Curl, asyncio.Future[None]] = {}
        self._soon: asyncio.Handle | None = None  # libcurl wants to be asked now
        self._due = math.inf  # when it wants to be asked again; time of the loop
        self._alarm: asyncio.TimerHandle | None = None  # for then, or earlier
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, connections_kept)
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._on_interest)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._on_timer)

    def begin(self, curl: pycurl.Curl) -> asyncio.Future[None]:
        """Start a transfer; the future ends with it, or raises `pycurl.error`. Whoever cancels it calls `drop`."""
        self._multi.add_handle(curl)
        ended = self._under_way[curl] = self._loop.create_future()
        return ended

    def drop(self, curl: pycurl.Curl) -> None:
        """Break a transfer off, and its connection."""
        if self._under_way.pop(curl, None) is not None:
            self._multi.remove_handle(curl)

    def close(self) -> None:
        """Break everything off; all connections are closed."""
        for curl, ended in list(self._under_way.items()):
            self.drop(curl)
            ended.cancel()
        self._multi.close()
        for handle in (self._soon, self._alarm):
            if handle is not None:
                handle.cancel()
        self._loop.remove_reader(self._lookout)
        self._lookout.close()

    # -- what libcurl asks for ----------------------------------------------------------------------------------

    def _on_interest(self, what: int, descriptor: int, _multi: pycurl.CurlMulti, _data: object) -> None:
        if what not in _WAITED_FOR:
            if descriptor in self._watched:
                self._watched.discard(descriptor)
                self._lookout.forget(descriptor)
        elif descriptor in self._watched:
            self._lookout.change(descriptor, what)
        else:
            self._watched.add(descriptor)
            self._lookout.watch(descriptor, what)

    def _on_timer(self, milliseconds: int) -> None:
        if milliseconds == 0:
            self._soon = self._soon or self._loop.call_soon(self._on_soon)
            return
        self._due = self._loop.time() + milliseconds / 1000 if milliseconds > 0 else math.inf
        if self._alarm is None or self._alarm.when() > self._due:
            self._set_alarm()

    def _set_alarm(self) -> None:
        """One alarm for many limits: it is left as it is when the time comes later than was thought."""
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = self._loop.call_at(self._due, self._on_alarm) if self._due < math.inf else None

    # -- what has happened --------------------------------------------------------------------------------------

    def _on_soon(self) -> None:
        self._soon = None
        self._go_on(_NOW)

    def _on_alarm(self) -> None:
        self._alarm = None
        if self._loop.time() >= self._due:
            self._due = math.inf
            self._go_on(_NOW)
        else:
            self._set_alarm()

    def _on_sockets(self) -> None:
        self._go_on(self._lookout.ready())

    def _go_on(self, events: list[tuple[int, int]]) -> None:
        try:
            for descriptor, ready in events:
                self._multi.socket_action(descriptor, ready)
        except pycurl.error as broken:  # libcurl as a whole: it will not say any more what has ended
            for curl in list(self._under_way):
                self._end(curl, broken)
            return
        _, succeeded, failed = self._multi.info_read()
        for curl in succeeded:
            self._end(curl, None)
        for curl, code, words in failed:
            self._end(curl, pycurl.error(code, words))

    def _end(self, curl: pycurl.Curl, error: pycurl.error | None) -> None:
        ended = self._under_way.pop(curl)
        self._multi.remove_handle(curl)
        if ended.done():
            return  # cancelled, and not dropped yet
        if error is None:
            ended.set_result(None)
        else:
            ended.set_exception(error)
