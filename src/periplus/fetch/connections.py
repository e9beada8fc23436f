"""May this request start now, and is its connection kept open afterwards?

Each host has at most one connection. After a request the connection stays idle for up to `IDLE_SECONDS`, ready for the
next request to its host. An idle connection counts towards the limit of its IP address. It is closed at once when
other hosts at the address need a connection.
"""

from __future__ import annotations

import os
import socket
import time
from collections import OrderedDict
from dataclasses import dataclass

from periplus.fetch.ip_limits import AddressRule, AddressTable

IDLE_SECONDS = 90  # an idle connection is closed after this time
_MAX_RETRY_TIMES = 10_000


class AddressBusy(Exception):  # noqa: N818  # not an error: the caller retries
    """Nothing was sent: the IP address has reached its connection limit, or its delay has not passed."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until the next retry
        super().__init__(f"the address is busy for {seconds:.2f} s")


@dataclass(frozen=True, slots=True)
class Socket:
    """A socket by descriptor and inode: libcurl may close the descriptor, and another file may get its number."""

    descriptor: int
    inode: int

    @classmethod
    def of(cls, descriptor: int) -> Socket:
        """Identify the socket that the descriptor refers to now."""
        return cls(descriptor, os.fstat(descriptor).st_ino)

    def is_open(self) -> bool:
        """Whether the descriptor still refers to this socket."""
        try:
            return os.fstat(self.descriptor).st_ino == self.inode
        except OSError:
            return False

    def shut_down(self) -> None:
        """Shut the connection down; libcurl notices that and closes the descriptor."""
        if self.is_open():
            with socket.socket(fileno=os.dup(self.descriptor)) as duplicate:
                try:
                    duplicate.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return  # the peer has closed it already


@dataclass(slots=True)
class ConnectionPermit:
    """Allows one request, and records the connection that the request uses."""

    host: str
    origin: str
    address: str
    rule: AddressRule | None
    keep_alive: bool  # the connection may stay open after the request
    socket: Socket | None  # the idle connection of the host, later the connection used
    idle_since: float = 0.0  # monotonic seconds
    is_sent: bool = False

    def can_be_kept(self) -> bool:
        """Whether the connection is kept for the next request.

        Without an address rule nothing is counted, so a closed connection need not be detected.
        """
        return self.keep_alive and self.socket is not None and (self.rule is None or self.socket.is_open())


class Connections:
    """The connections of one worker."""

    def __init__(self, table: AddressTable, worker: int, *, connect_timeout: float, max_idle: int) -> None:
        """*connect_timeout*: seconds until connecting is given up; *max_idle*: limit of idle connections."""
        self._table, self._worker, self._connect_timeout, self._max_idle = table, worker, connect_timeout, max_idle
        self._idle: OrderedDict[str, ConnectionPermit] = OrderedDict()  # by host, longest idle first
        self._retry_times: dict[int, float] = {}  # by address: when the last delayed host retries

    def acquire(self, host: str, origin: str, address: str) -> ConnectionPermit:
        """Allow a request; raises `AddressBusy` when the limits of the address do not permit it yet.

        A host with an open connection is fetched at the address of that connection, even if DNS has changed.
        """
        now = time.monotonic()
        self._close_expired(now)
        idle = self._idle_connection(host, origin)
        address = idle.address if idle else address
        rule, keep_alive = self._table.rules.of(address), True
        if rule is not None:
            wait = self._table.claim(rule, self._worker, connected=idle is not None, timeout=self._connect_timeout)
            if wait:
                raise AddressBusy(self._next_retry(rule, wait, now))
            keep_alive = rule.allows_idle(self._table.connections(rule))
        self._idle.pop(host, None)
        return ConnectionPermit(host, origin, address, rule, keep_alive, idle.socket if idle else None)

    def mark_sent(self, permit: ConnectionPermit) -> None:
        """Start the delay of the address: the request was sent."""
        permit.is_sent = True
        if permit.rule is not None:
            self._table.mark_sent(permit.rule)

    def release(self, permit: ConnectionPermit, connection: Socket | None, *, broken: bool) -> None:
        """End a request; *connection* is the connection opened for it, None when an idle one was used."""
        permit.socket = connection or permit.socket
        if not permit.is_sent:
            self.mark_sent(permit)  # a failed attempt to connect counts as a request
        if not broken and permit.can_be_kept():
            permit.idle_since = time.monotonic()
            self._idle[permit.host] = permit
            if len(self._idle) > self._max_idle:
                self._shut_down_idle(next(iter(self._idle)))
        else:
            self._count_closed(permit)

    def close_all(self) -> None:
        """Forget all connections, which libcurl has closed."""
        self._idle.clear()
        self._table.forget_worker(self._worker)

    @property
    def hosts(self) -> list[str]:
        """Hosts with an idle connection."""
        return list(self._idle)

    def disconnect(self, host: str) -> None:
        """Close the idle connection of a host that another worker owns from now on."""
        if host in self._idle:
            self._shut_down_idle(host)

    def _idle_connection(self, host: str, origin: str) -> ConnectionPermit | None:
        """Return the idle connection for this origin; close one to another port or scheme of the host."""
        idle = self._idle.get(host)
        if idle is not None and idle.origin != origin:
            self._shut_down_idle(host)
            return None
        return idle

    def _close_expired(self, now: float) -> None:
        while self._idle:
            host, longest_idle = next(iter(self._idle.items()))
            if now - longest_idle.idle_since < IDLE_SECONDS:
                return
            self._shut_down_idle(host)

    def _shut_down_idle(self, host: str) -> None:
        permit = self._idle.pop(host)
        assert permit.socket is not None
        permit.socket.shut_down()
        self._count_closed(permit)

    def _count_closed(self, permit: ConnectionPermit) -> None:
        if permit.rule is not None:
            self._table.connection_closed(permit.rule, self._worker)

    def _next_retry(self, rule: AddressRule, wait: float, now: float) -> float:
        """Return the seconds until a retry; the hosts at one address retry one after the other, not all at once."""
        if len(self._retry_times) > _MAX_RETRY_TIMES:
            self._retry_times = {key: at for key, at in self._retry_times.items() if at > now}
        at = max(now + wait, self._retry_times.get(rule.key, 0.0) + rule.delay)
        self._retry_times[rule.key] = at
        return at - now
