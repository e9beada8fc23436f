"""Are names looked up rarely, and never at the cost of those who wait for nothing?"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable

import pytest

from fetch.servers import run
from periplus.fetch import resolver as module
from periplus.fetch.resolver import Lookup, Resolver


class Names:
    """A name server that counts its questions."""

    def __init__(self, **hosts: list[str] | OSError) -> None:
        self.hosts = {name.replace("_", "."): answer for name, answer in hosts.items()}
        self.questions: list[str] = []
        self.opened = threading.Event()
        self.opened.set()

    def ask(self, host: str) -> list[str]:
        self.questions.append(host)
        self.opened.wait(10)
        answer = self.hosts.get(host, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        if isinstance(answer, OSError):
            raise answer
        return answer


def looked_up(names: Names, *hosts: str, patience: float = 5.0, pause: float = 0.0) -> list[Lookup]:
    async def main() -> list[Lookup]:
        resolver = Resolver(patience, names.ask)
        found = []
        for host in hosts:
            found.append(await resolver.look_up(host))
            await asyncio.sleep(pause)
        resolver.close()
        return found

    return run(main())


def test_addresses_are_remembered_and_ipv4_comes_first() -> None:
    names = Names(a_test=["2001:4860::1", "8.8.8.8", "8.8.4.4", "8.8.8.8"])
    first, second = looked_up(names, "a.test", "a.test")
    assert first.addresses == second.addresses == ("8.8.8.8", "8.8.4.4", "2001:4860::1")
    assert names.questions == ["a.test"]


def test_an_unknown_name_says_why_and_is_not_asked_for_again_at_once() -> None:
    names = Names()
    first, second = looked_up(names, "nowhere.test", "nowhere.test")
    assert (first.addresses, first.failure) == ((), "Name or service not known")
    assert second == first
    assert names.questions == ["nowhere.test"]


@pytest.mark.parametrize(
    ("answer", "setting"),
    [
        (["8.8.8.8"], "_AGE"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "_AGE_OF_FAILURE"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "_AGE_OF_TROUBLE"),
    ],
)
def test_what_is_remembered_has_an_age(
    monkeypatch: pytest.MonkeyPatch, answer: list[str] | OSError, setting: str
) -> None:
    monkeypatch.setattr(module, setting, 0.05)
    names = Names(a_test=answer)
    looked_up(names, "a.test", "a.test", pause=0.06)
    assert names.questions == ["a.test", "a.test"]


def test_only_so_many_hosts_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_REMEMBERED", 2)
    names = Names()
    looked_up(names, "a.test", "b.test", "c.test", "c.test", "b.test", "a.test")
    assert names.questions == ["a.test", "b.test", "c.test", "a.test"]


def test_names_of_other_networks_are_never_asked_for() -> None:
    names = Names()
    (found,) = looked_up(names, "secret.onion")
    assert (found.addresses, names.questions) == ((), [])
    assert ".onion" in found.failure


def test_many_wait_for_one_question() -> None:
    async def main() -> None:
        names = Names(a_test=["8.8.8.8"])
        names.opened.clear()
        resolver = Resolver(5.0, names.ask)
        waiting = [asyncio.create_task(resolver.look_up("a.test")) for _ in range(20)]
        await asyncio.sleep(0.05)
        names.opened.set()
        assert {found.addresses for found in await asyncio.gather(*waiting)} == {("8.8.8.8",)}
        assert names.questions == ["a.test"]
        resolver.close()

    run(main())


def test_a_silent_name_server_stops_neither_the_loop_nor_other_lookups() -> None:
    async def main() -> None:
        names = Names(a_test=["8.8.8.8"])
        silent = threading.Event()

        def ask(host: str) -> list[str]:
            if host.startswith("silent"):
                silent.wait(10)
            return names.ask(host)

        resolver = Resolver(2.0, ask)
        waiting = [asyncio.create_task(resolver.look_up(f"silent{number}.test")) for number in range(8)]
        await asyncio.sleep(0.01)
        assert (await resolver.look_up("a.test")).addresses == ("8.8.8.8",)
        assert not any(task.done() for task in waiting)
        found = await asyncio.gather(*waiting)
        assert {one.failure for one in found} == {"no answer from the name server within 2 s"}
        resolver.close()
        silent.set()

    run(main())


def test_an_answer_that_came_too_late_is_there_for_the_next_question() -> None:
    async def main() -> None:
        names = Names(a_test=["8.8.8.8"])
        names.opened.clear()
        resolver = Resolver(0.05, names.ask)
        assert (await resolver.look_up("a.test")).addresses == ()
        names.opened.set()
        await asyncio.sleep(0.05)
        assert (await resolver.look_up("a.test")).addresses == ("8.8.8.8",)
        assert names.questions == ["a.test"]
        resolver.close()

    run(main())


def test_an_address_that_does_not_answer_is_tried_last() -> None:
    async def main() -> None:
        resolver = Resolver(5.0, Names(a_test=["8.8.8.8", "8.8.4.4"]).ask)
        await resolver.look_up("a.test")
        resolver.demote("a.test", "8.8.8.8")
        assert (await resolver.look_up("a.test")).addresses == ("8.8.4.4", "8.8.8.8")
        resolver.demote("a.test", "1.1.1.1")
        resolver.demote("never-met.test", "1.1.1.1")
        assert (await resolver.look_up("a.test")).addresses == ("8.8.4.4", "8.8.8.8")
        resolver.close()

    run(main())


@pytest.mark.parametrize("host", ["localhost", "127.1", "a..b", "x" * 300, "-", "a" * 64 + ".test"])
def test_the_system_answers_or_refuses_but_never_breaks(host: str) -> None:
    ask: Callable[[str], list[str]] = module._ask_system
    try:
        found = ask(host)
    except OSError:
        found = []
    assert all(address.startswith("127.") or address == "::1" for address in found)
