"""Are names looked up rarely, and never at the cost of those who wait for nothing?"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from fetch.servers import run
from periplus.fetch import resolver as module
from periplus.fetch.resolver import Lookup, LookupPending, Resolver


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


async def answered(resolver: Resolver, host: str) -> Lookup:
    """What a caller learns who comes back as often as it is told to."""
    for _ in range(1_000):
        try:
            return await resolver.look_up(host)
        except LookupPending:
            await asyncio.sleep(0.01)
    raise AssertionError(f"{host} stays pending")


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


class PartlySilent(Names):
    """A name server that does not answer for names that begin with `silent`, until the test is over."""

    def __init__(self) -> None:
        super().__init__()
        self.end = threading.Event()
        self.threads: set[threading.Thread] = set()

    def ask(self, host: str) -> list[str]:
        self.questions.append(host)
        self.threads.add(threading.current_thread())
        if host.startswith("silent"):
            self.end.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return ["8.8.8.8"]


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[PartlySilent]:
    monkeypatch.setattr(module, "_SLOW_AFTER", 0.05)
    names = PartlySilent()
    yield names
    names.end.set()


def crowd(names: PartlySilent, *hosts: str, patience: float = 0.3) -> list[Lookup]:
    """Look all these hosts up at once, in this order."""

    async def main() -> list[Lookup]:
        resolver = Resolver(patience, names.ask)
        found = await asyncio.gather(*(answered(resolver, host) for host in hosts))
        resolver.close()
        return found

    return run(main())


def test_names_whose_servers_are_silent_keep_no_other_name_from_being_found(silence: PartlySilent) -> None:
    silent = [f"silent{number}.test" for number in range(100)]
    healthy = [f"a{number}.test" for number in range(20)]
    found = crowd(silence, *silent, *healthy)
    assert {one.failure for one in found[:100]} == {"no answer from the name server within 0.3 s"}
    assert {one.addresses for one in found[100:]} == {("8.8.8.8",)}


def test_time_counts_from_asking_and_not_from_waiting_for_a_turn(
    silence: PartlySilent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One thread only: the second name waits for longer than its server may take."""
    monkeypatch.setattr(module, "_THREADS", 1)
    threading.Timer(0.6, silence.end.set).start()
    silent, healthy = crowd(silence, "silent.test", "a.test", patience=0.2)
    assert len(silence.threads) == 1
    assert silent.failure == "no answer from the name server within 0.2 s"
    assert healthy.addresses == ("8.8.8.8",)


def test_a_lookup_that_takes_long_lets_its_caller_do_something_else(silence: PartlySilent) -> None:
    async def main() -> None:
        resolver = Resolver(30.0, silence.ask)
        with pytest.raises(LookupPending):
            await resolver.look_up("silent.test")
        silence.end.set()
        assert (await answered(resolver, "silent.test")).failure == "try again"
        assert silence.questions == ["silent.test"]
        resolver.close()

    run(main())


def test_a_failure_that_nobody_waited_for_is_still_known_when_the_caller_comes_back(
    silence: PartlySilent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AGE_OF_TROUBLE", 0.0)

    async def main() -> None:
        resolver = Resolver(30.0, silence.ask)
        with pytest.raises(LookupPending):
            await resolver.look_up("silent.test")
        silence.end.set()
        await asyncio.sleep(0.1)
        assert (await resolver.look_up("silent.test")).failure == "try again"
        assert silence.questions == ["silent.test"]
        resolver.close()

    run(main())


def test_names_of_a_domain_that_was_silent_come_last_and_leave_threads_to_others(
    silence: PartlySilent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_PROMPT", 1)
    monkeypatch.setattr(module, "_THREADS_OF_SLOW_DOMAINS", 2)
    farm = [f"silent{number}.farm.test" for number in range(10)]

    async def main() -> None:
        resolver = Resolver(30.0, silence.ask)
        callers = [asyncio.create_task(answered(resolver, host)) for host in (*farm, "a.test", "b.test")]
        assert [(await callers[number]).addresses for number in (10, 11)] == [("8.8.8.8",)] * 2
        await asyncio.sleep(0.3)
        # One name of the farm was asked for before its domain was known as slow; after the others two more, at once.
        assert silence.questions == [farm[0], "a.test", "b.test", farm[1], farm[2]]
        for caller in callers[:10]:
            caller.cancel()
        resolver.close()

    run(main())


def test_a_domain_that_answers_at_once_is_slow_no_longer(
    silence: PartlySilent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_THREADS_OF_SLOW_DOMAINS", 1)

    async def main() -> None:
        resolver = Resolver(0.1, silence.ask)
        await answered(resolver, "silent.farm.test")
        await answered(resolver, "b.farm.test")  # has the one place of slow domains, and answers
        assert (await answered(resolver, "silent2.farm.test")).failure
        assert (await answered(resolver, "c.farm.test")).addresses == ("8.8.8.8",)
        resolver.close()

    run(main())


def test_a_system_that_allows_few_threads_only_makes_names_wait(
    silence: PartlySilent, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start
    started: list[threading.Thread] = []

    def start_two(thread: threading.Thread) -> None:
        if thread.name == "resolver":
            if len(started) == 2:
                raise RuntimeError("can't start new thread")
            started.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_two)
    found = crowd(silence, "silent.test", *(f"a{number}.test" for number in range(20)))
    assert [one.addresses for one in found] == [(), *[("8.8.8.8",)] * 20]


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
    ask: Callable[[str], list[str]] = module._query_system
    try:
        found = ask(host)
    except OSError:
        found = []
    assert all(address.startswith("127.") or address == "::1" for address in found)
