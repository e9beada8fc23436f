"""May this request be made now, and what becomes of its connection afterwards?

A host has one connection at most. It waits for the next request to its host for a while, and counts as open for its
address all that time, unless other hosts at the address need the room.
"""

from __future__ import annotations

import os
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass

from periplus.fetch.ip_limits import AddressRule, AddressTable

KEPT_SECONDS = 90  # a connection waits so long for its next use
_LINES = 10_000


class AddressBusy(Exception):  # noqa: N818  # no error: a reason to come back
    """Nothing was sent, because enough is asked of the address already."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until it is worth trying again
        super().__init__(f"the address is busy for {seconds:.2f} s")


@dataclass(frozen=True, slots=True)
class Socket:
    """A descriptor that libcurl may close at any time, after which its number may mean another file."""

    descriptor: int
    inode: int

    @classmethod
    def of(cls, descriptor: int) -> Socket:
        """As it is now."""
        return cls(descriptor, os.fstat(descriptor).st_ino)

    def is_open(self) -> bool:
        """Whether it is still the same."""
        try:
            return os.fstat(self.descriptor).st_ino == self.inode
        except OSError:
            return False

    def shut(self) -> None:
        """End the connection; libcurl finds out and closes the descriptor."""
        if self.is_open():
            with socket.socket(fileno=os.dup(self.descriptor)) as twin:
                try:
                    twin.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # it was not connected any more


@dataclass(slots=True)
class ConnectionPermit:
    """The leave to make one request."""

    host: str
    origin: str
    address: str
    rule: AddressRule | None
    keep: bool  # the connection may stay open afterwards
    socket: Socket | None  # the connection that waits, and later the one used
    since: float = 0.0  # when it began to wait; monotonic
    is_sent: bool = False

    def may_stay(self) -> bool:
        """Whether the connection waits for its next use; where nothing is counted, one that is closed does no harm."""
        return self.keep and self.socket is not None and (self.rule is None or self.socket.is_open())


class Connections:
    """The connections of one worker."""

    def __init__(self, table: AddressTable, worker: int, *, patience: float, most: int) -> None:
        """*patience*: seconds in which a connection is made or given up; *most*: how many wait for their next use."""
        self._table, self._worker, self._patience, self._most = table, worker, patience, most
        self._waiting: OrderedDict[str, ConnectionPermit] = OrderedDict()  # by host, longest first
        self._lines: dict[int, float] = {}  # by address: when the last host that was sent away comes back

    def enter(self, host: str, origin: str, address: str) -> ConnectionPermit:
        """Begin a request; raises `AddressBusy` when it is too early.

        A host whose connection is still open is asked at the address it leads to, whatever the name means by now.
        """
        now = time.monotonic()
        self._shut_old(now)
        waiting = self._of(host, origin)
        address = waiting.address if waiting else address
        rule, keep = self._table.rules.of(address), True
        if rule is not None:
            wait = self._table.claim(rule, self._worker, connected=waiting is not None, patience=self._patience)
            if wait:
                raise AddressBusy(self._line_up(rule, wait, now))
            keep = rule.keeps(self._table.connections(rule))
        self._waiting.pop(host, None)
        return ConnectionPermit(host, origin, address, rule, keep, waiting.socket if waiting else None)

    def sent(self, passage: ConnectionPermit) -> None:
        """The request is on its way."""
        passage.is_sent = True
        if passage.rule is not None:
            self._table.sent(passage.rule)

    def leave(self, passage: ConnectionPermit, connection: Socket | None, *, broken: bool) -> None:
        """The request is over; *connection* is the one that was made for it, if one was."""
        passage.socket = connection or passage.socket
        if not passage.is_sent:
            self.sent(passage)  # a knock at the door counts, too
        if not broken and passage.may_stay():
            passage.since = time.monotonic()
            self._waiting[passage.host] = passage
            if len(self._waiting) > self._most:
                self._shut(next(iter(self._waiting)))
        else:
            self._close(passage)

    def forget(self) -> None:
        """All connections are closed."""
        self._waiting.clear()
        self._table.forget_worker(self._worker)

    @property
    def hosts(self) -> list[str]:
        """Those to which a connection waits."""
        return list(self._waiting)

    def hang_up(self, host: str) -> None:
        """Another worker asks this host from now on."""
        if host in self._waiting:
            self._shut(host)

    def _of(self, host: str, origin: str) -> ConnectionPermit | None:
        """The connection that waits for this request; one to another port of the host is closed."""
        waiting = self._waiting.get(host)
        if waiting is not None and waiting.origin != origin:
            self._shut(host)
            return None
        return waiting

    def _shut_old(self, now: float) -> None:
        while self._waiting:
            host, oldest = next(iter(self._waiting.items()))
            if now - oldest.since < KEPT_SECONDS:
                return
            self._shut(host)

    def _shut(self, host: str) -> None:
        passage = self._waiting.pop(host)
        assert passage.socket is not None
        passage.socket.shut()
        self._close(passage)

    def _close(self, passage: ConnectionPermit) -> None:
        if passage.rule is not None:
            self._table.disconnected(passage.rule, self._worker)

    def _line_up(self, rule: AddressRule, wait: float, now: float) -> float:
        """Hosts sent away from one address come back one after the other, not all at once."""
        if len(self._lines) > _LINES:
            self._lines = {key: at for key, at in self._lines.items() if at > now}
        at = max(now + wait, self._lines.get(rule.key, 0.0) + rule.delay)
        self._lines[rule.key] = at
        return at - now
