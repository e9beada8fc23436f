"""Which addresses has this host?

The operating system answers, in threads, because `getaddrinfo` blocks: for 10 seconds and more when a name server is
silent. Silent name servers must not starve other lookups. A lookup that takes over a second counts as slow, and the
next name is asked for in its place. Names of a domain that was slow before wait until no other name waits, and take a
quarter of the threads at most. Answers are remembered for a while, failures for a shorter one.
"""

from __future__ import annotations

import asyncio
import math
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

from periplus.url import registrable_domain

_PROMPT = 32  # lookups at once that are not slow yet
_SLOW_AFTER = 1.0  # seconds
_THREADS = 256  # lookups at once, slow ones included; so many waiting threads take 4 MB
_THREADS_OF_SLOW_DOMAINS = 64
_SLOW_DOMAINS = 50_000  # remembered
_SOONEST, _LATEST, _CHECKS = 0.5, 10.0, 200  # seconds until a caller asks again; such calls a second
_REMEMBERED = 50_000  # hosts
_AGE, _AGE_OF_FAILURE, _AGE_OF_TROUBLE = 300.0, 60.0, 5.0  # seconds; trouble: the name server itself failed
_TROUBLE = frozenset({socket.EAI_AGAIN, socket.EAI_FAIL, socket.EAI_SYSTEM, socket.EAI_MEMORY})
_NEVER_ASKED = ".onion"  # names of another network; to ask for one would tell who is looking (RFC 7686)

Ask = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """What is known about a host."""

    addresses: tuple[str, ...]  # IPv4 first, because IPv6 is announced more often than it works
    failure: str = ""  # why there are none
    expires: float = 0.0  # monotonic seconds


class LookupPending(Exception):  # noqa: N818  # no error: a reason to come back
    """The name has not been asked for yet, or its name server still has time to answer."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds  # until it is worth trying again
        super().__init__(f"the lookup is not over; look again in {seconds:.2f} s")


@dataclass(slots=True, eq=False)
class _Inquiry:
    """One lookup, from the first call that needs it to the answer."""

    host: str
    domain: str
    answer: asyncio.Future[Lookup]
    callers: int = 0  # that wait for the answer now
    asked: float = math.inf  # monotonic seconds
    is_slow: bool = False
    of_slow_domain: bool = False
    timer: asyncio.TimerHandle | None = None


class Resolver:
    """Looks hosts up, each once at a time, without stopping the event loop."""

    def __init__(self, patience: float, ask: Ask | None = None) -> None:
        """A name server has *patience* seconds to answer, counted from asking; *ask* stands in for the system."""
        self._patience = patience
        self._known: dict[str, Lookup] = {}
        self._under_way: dict[str, _Inquiry] = {}
        self._threads = _Threads(ask or _ask_system, self._learn)

    async def look_up(self, host: str) -> Lookup:
        """The addresses of a host name, or why it has none.

        Raises `LookupPending` when that takes over a second: the lookup goes on, and a later call has its answer.
        """
        known = self._known.get(host)
        if known is not None and time.monotonic() < known.expires:
            return known
        if host.rstrip(".").endswith(_NEVER_ASKED):
            return Lookup((), f"{_NEVER_ASKED} names are not looked up")
        inquiry = self._under_way.get(host) or self._inquire(host)
        left = inquiry.asked + self._patience - time.monotonic()
        inquiry.callers += 1
        try:
            return await asyncio.wait_for(asyncio.shield(inquiry.answer), min(max(left, 0.0), _SLOW_AFTER))
        except TimeoutError:
            if left > _SLOW_AFTER:
                raise LookupPending(self._pause()) from None
        finally:
            inquiry.callers -= 1
        return Lookup((), f"no answer from the name server within {self._patience:g} s")

    def demote(self, host: str, address: str) -> None:
        """An address does not answer: the others are tried first for as long as they are remembered."""
        known = self._known.get(host)
        if known is not None and address in known.addresses:
            others = tuple(other for other in known.addresses if other != address)
            self._known[host] = Lookup((*others, address), "", known.expires)

    def close(self) -> None:
        """Let the threads go, as soon as they have nothing left to ask."""
        self._threads.close()

    def _inquire(self, host: str) -> _Inquiry:
        answer: asyncio.Future[Lookup] = asyncio.get_running_loop().create_future()
        inquiry = self._under_way[host] = _Inquiry(host, registrable_domain(host), answer)
        self._threads.submit(inquiry)
        return inquiry

    def _pause(self) -> float:
        """Seconds until a caller asks again; longer when there are many, so that asking takes little time."""
        return min(max(_SOONEST, len(self._under_way) / _CHECKS), _LATEST)

    def _learn(self, inquiry: _Inquiry, found: Lookup) -> None:
        if found.failure and not inquiry.callers:  # it must still be known when the caller comes back
            expires = max(found.expires, time.monotonic() + _AGE_OF_FAILURE)
            found = Lookup((), found.failure, expires)
        self._known.pop(inquiry.host, None)
        self._known[inquiry.host] = found
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        del self._under_way[inquiry.host]
        if not inquiry.answer.done():
            inquiry.answer.set_result(found)


class _Threads:
    """Runs blocking lookups in threads, and decides which name is asked for next."""

    def __init__(self, ask: Ask, answered: Callable[[_Inquiry, Lookup], None]) -> None:
        self._ask, self._answered = ask, answered
        self._new: deque[_Inquiry] = deque()
        self._waiting_of_slow_domains: deque[_Inquiry] = deque()
        self._slow_domains: dict[str, None] = {}
        self._questions: SimpleQueue[_Inquiry | None] = SimpleQueue()
        self._threads = 0
        self._busy, self._slow, self._of_slow_domains = 0, 0, 0  # lookups under way; how many of them are such

    def submit(self, inquiry: _Inquiry) -> None:
        """Ask for a name as soon as it is its turn."""
        self._new.append(inquiry)
        self._start_waiting()

    def close(self) -> None:
        """Ask for no other name; a thread ends with its lookup."""
        self._new.clear()
        self._waiting_of_slow_domains.clear()
        for _ in range(self._threads):
            self._questions.put(None)
        self._threads = 0

    def _start_waiting(self) -> None:
        while self._busy - self._slow < _PROMPT and (waiting := self._next_queue()) and self._has_idle_thread():
            inquiry = waiting.popleft()
            inquiry.of_slow_domain = waiting is self._waiting_of_slow_domains
            inquiry.asked = time.monotonic()
            inquiry.timer = asyncio.get_running_loop().call_later(_SLOW_AFTER, self._slowed, inquiry)
            self._busy += 1
            self._of_slow_domains += inquiry.of_slow_domain
            self._questions.put(inquiry)

    def _next_queue(self) -> deque[_Inquiry] | None:
        """The queue that the next name comes from: names of slow domains come last."""
        while self._new and self._new[0].domain in self._slow_domains:
            self._waiting_of_slow_domains.append(self._new.popleft())
        if self._new:
            return self._new
        return self._waiting_of_slow_domains if self._of_slow_domains < _THREADS_OF_SLOW_DOMAINS else None

    def _has_idle_thread(self) -> bool:
        if self._busy < self._threads:
            return True
        if self._threads == _THREADS:
            return False
        arguments = (asyncio.get_running_loop(),)
        try:
            threading.Thread(target=self._work, args=arguments, name="resolver", daemon=True).start()
        except RuntimeError:  # the system allows no more threads
            if not self._threads:
                raise
            return False
        self._threads += 1
        return True

    def _slowed(self, inquiry: _Inquiry) -> None:
        """The lookup takes long: another one may begin."""
        inquiry.is_slow = True
        self._slow += 1
        self._slow_domains[inquiry.domain] = None
        if len(self._slow_domains) > _SLOW_DOMAINS:
            del self._slow_domains[next(iter(self._slow_domains))]
        self._start_waiting()

    def _ended(self, inquiry: _Inquiry, found: Lookup) -> None:
        assert inquiry.timer is not None
        inquiry.timer.cancel()
        self._busy -= 1
        self._slow -= inquiry.is_slow
        self._of_slow_domains -= inquiry.of_slow_domain
        if not inquiry.is_slow:
            self._slow_domains.pop(inquiry.domain, None)
        self._answered(inquiry, found)
        self._start_waiting()

    def _work(self, loop: asyncio.AbstractEventLoop) -> None:
        """The life of a thread."""
        while (inquiry := self._questions.get()) is not None:
            found = self._find(inquiry.host)
            try:
                loop.call_soon_threadsafe(self._ended, inquiry, found)
            except RuntimeError:  # the event loop is closed
                return

    def _find(self, host: str) -> Lookup:
        try:
            addresses = dict.fromkeys(self._ask(host))
        except OSError as error:
            age = _AGE_OF_TROUBLE if error.errno in _TROUBLE else _AGE_OF_FAILURE
            return Lookup((), error.strerror or str(error), time.monotonic() + age)
        return Lookup(tuple(sorted(addresses, key=_is_v6)), "", time.monotonic() + _AGE)


def _is_v6(address: str) -> bool:
    return ":" in address


def _ask_system(host: str) -> list[str]:
    """As bytes, because text would be judged and rewritten before it is looked up."""
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
