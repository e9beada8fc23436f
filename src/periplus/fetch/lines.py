"""Which connections are open, and how is the one to a host closed?

libcurl keeps connections for their next use and offers no way to close a certain one. So the socket of each is noted
when it is dialled, and shut down when its host goes to another worker; libcurl finds it dead and forgets it.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Collection
from contextlib import suppress


class OpenLines:
    """The sockets that were dialled, by descriptor; a descriptor that is used again replaces what it stood for."""

    def __init__(self) -> None:
        self._dialled: dict[int, tuple[int, str]] = {}

    def dialled(self, descriptor: int, host: str) -> None:
        """A connection to a host is being made."""
        self._dialled[descriptor] = os.fstat(descriptor).st_ino, host

    def hang_up(self, hosts: Collection[str]) -> None:
        """Close the connections to these hosts, if there are any."""
        for descriptor, (number, host) in list(self._dialled.items()):
            if host in hosts:
                del self._dialled[descriptor]
                with suppress(OSError):  # closed already, by us or by the server
                    if os.fstat(descriptor).st_ino == number:
                        _shut_down(descriptor)


def _shut_down(descriptor: int) -> None:
    with socket.socket(fileno=os.dup(descriptor)) as line:
        line.shutdown(socket.SHUT_RDWR)
