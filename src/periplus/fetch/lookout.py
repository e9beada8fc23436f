"""Which of the sockets that libcurl waits for are ready?

Sockets go by their descriptors; what is waited for, and what is ready, is said in the words of libcurl.
"""

from __future__ import annotations

import select
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

import pycurl

_IN, _OUT = pycurl.CSELECT_IN, pycurl.CSELECT_OUT


class Lookout:
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


class _LinuxLookout(Lookout):
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


def lookout() -> Lookout:
    """The best for this system."""
    return _LinuxLookout() if hasattr(select, "epoll") else Lookout()
