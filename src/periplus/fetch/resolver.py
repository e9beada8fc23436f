"""Which addresses has this host?

The system is asked, in threads that nobody waits for at the end: a lookup may take a minute when a name server is
silent. What it says is remembered for a while, refusals for a shorter one.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from queue import SimpleQueue

_THREADS = 32
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


class Resolver:
    """Looks hosts up, each once at a time, without stopping the event loop."""

    def __init__(self, patience: float, ask: Ask | None = None) -> None:
        """A lookup is waited for *patience* seconds; *ask* stands in for the system."""
        self._patience = patience
        self._ask = ask or _ask_system
        self._known: dict[str, Lookup] = {}
        self._under_way: dict[str, asyncio.Future[Lookup]] = {}
        self._questions: SimpleQueue[tuple[str, asyncio.AbstractEventLoop] | None] = SimpleQueue()
        self._threads = 0

    async def look_up(self, host: str) -> Lookup:
        """The addresses of a host name, or why it has none."""
        known = self._known.get(host)
        if known is not None and time.monotonic() < known.expires:
            return known
        if host.rstrip(".").endswith(_NEVER_ASKED):
            return Lookup((), f"{_NEVER_ASKED} names are not looked up")
        answer = self._under_way.get(host) or self._inquire(host)
        try:
            return await asyncio.wait_for(asyncio.shield(answer), self._patience)
        except TimeoutError:
            return Lookup((), f"no answer from the name server within {self._patience:g} s")

    def demote(self, host: str, address: str) -> None:
        """An address does not answer: the others are tried first for as long as they are remembered."""
        known = self._known.get(host)
        if known is not None and address in known.addresses:
            others = tuple(other for other in known.addresses if other != address)
            self._known[host] = Lookup((*others, address), "", known.expires)

    def close(self) -> None:
        """Let the threads go, as soon as they have nothing left to ask."""
        for _ in range(self._threads):
            self._questions.put(None)
        self._threads = 0

    def _inquire(self, host: str) -> asyncio.Future[Lookup]:
        loop = asyncio.get_running_loop()
        answer = self._under_way[host] = loop.create_future()
        self._questions.put((host, loop))
        if self._threads < min(_THREADS, len(self._under_way)):
            self._threads += 1
            threading.Thread(target=self._work, name="resolver", daemon=True).start()
        return answer

    def _work(self) -> None:
        while (question := self._questions.get()) is not None:
            host, loop = question
            found = self._find(host)
            try:
                loop.call_soon_threadsafe(self._learn, host, found)
            except RuntimeError:  # nobody is waiting any more
                return

    def _find(self, host: str) -> Lookup:
        try:
            addresses = dict.fromkeys(self._ask(host))
        except OSError as error:
            age = _AGE_OF_TROUBLE if error.errno in _TROUBLE else _AGE_OF_FAILURE
            return Lookup((), error.strerror or str(error), time.monotonic() + age)
        return Lookup(tuple(sorted(addresses, key=_is_v6)), "", time.monotonic() + _AGE)

    def _learn(self, host: str, found: Lookup) -> None:
        self._known.pop(host, None)
        self._known[host] = found
        if len(self._known) > _REMEMBERED:
            del self._known[next(iter(self._known))]
        answer = self._under_way.pop(host)
        if not answer.done():
            answer.set_result(found)


def _is_v6(address: str) -> bool:
    return ":" in address


def _ask_system(host: str) -> list[str]:
    """As bytes, because text would be judged and rewritten before it is looked up."""
    found = socket.getaddrinfo(host.encode("ascii"), None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]
