"""Lookups are cached, and slow name servers do not delay lookups of other names."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from fetch.servers import run
from periplus.fetch import resolver as module
from periplus.fetch.resolver import Lookup, LookupPending, Resolver


class FakeDns:
    """A name server that records its queries."""

    def __init__(self, **hosts: list[str] | OSError) -> None:
        self.hosts = {name.replace("_", "."): answer for name, answer in hosts.items()}
        self.queries: list[str] = []
        self.opened = threading.Event()
        self.opened.set()

    def query(self, host: str) -> list[str]:
        self.queries.append(host)
        self.opened.wait(10)
        answer = self.hosts.get(host, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        if isinstance(answer, OSError):
            raise answer
        return answer


async def look_up_until_done(resolver: Resolver, host: str) -> Lookup:
    """Look a host up, and retry as long as the lookup is pending."""
    for _ in range(1_000):
        try:
            return await resolver.look_up(host)
        except LookupPending:
            await asyncio.sleep(0.01)
    raise AssertionError(f"{host} stays pending")


def looked_up(dns: FakeDns, *hosts: str, timeout: float = 5.0, pause: float = 0.0) -> list[Lookup]:
    async def main() -> list[Lookup]:
        resolver = Resolver(timeout, dns.query)
        found = []
        for host in hosts:
            found.append(await resolver.look_up(host))
            await asyncio.sleep(pause)
        resolver.close()
        return found

    return run(main())


def test_addresses_are_cached_and_ipv4_comes_first() -> None:
    dns = FakeDns(a_test=["2001:4860::1", "8.8.8.8", "8.8.4.4", "8.8.8.8"])
    first, second = looked_up(dns, "a.test", "a.test")
    assert first.addresses == second.addresses == ("8.8.8.8", "8.8.4.4", "2001:4860::1")
    assert dns.queries == ["a.test"]


def test_an_unknown_name_has_a_reason_and_is_not_looked_up_again_at_once() -> None:
    dns = FakeDns()
    first, second = looked_up(dns, "nowhere.test", "nowhere.test")
    assert (first.addresses, first.failure) == ((), "Name or service not known")
    assert second == first
    assert dns.queries == ["nowhere.test"]


@pytest.mark.parametrize(
    ("answer", "setting"),
    [
        (["8.8.8.8"], "_TTL"),
        (socket.gaierror(socket.EAI_NONAME, "unknown"), "_FAILURE_TTL"),
        (socket.gaierror(socket.EAI_AGAIN, "try again"), "_SERVER_ERROR_TTL"),
    ],
)
def test_cached_lookups_expire(monkeypatch: pytest.MonkeyPatch, answer: list[str] | OSError, setting: str) -> None:
    monkeypatch.setattr(module, setting, 0.05)
    dns = FakeDns(a_test=answer)
    looked_up(dns, "a.test", "a.test", pause=0.06)
    assert dns.queries == ["a.test", "a.test"]


def test_the_cache_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_CACHED", 2)
    dns = FakeDns()
    looked_up(dns, "a.test", "b.test", "c.test", "c.test", "b.test", "a.test")
    assert dns.queries == ["a.test", "b.test", "c.test", "a.test"]


def test_onion_names_are_never_looked_up() -> None:
    dns = FakeDns()
    (found,) = looked_up(dns, "secret.onion")
    assert (found.addresses, dns.queries) == ((), [])
    assert ".onion" in found.failure


def test_many_callers_share_one_lookup() -> None:
    async def main() -> None:
        dns = FakeDns(a_test=["8.8.8.8"])
        dns.opened.clear()
        resolver = Resolver(5.0, dns.query)
        waiting = [asyncio.create_task(resolver.look_up("a.test")) for _ in range(20)]
        await asyncio.sleep(0.05)
        dns.opened.set()
        assert {found.addresses for found in await asyncio.gather(*waiting)} == {("8.8.8.8",)}
        assert dns.queries == ["a.test"]
        resolver.close()

    run(main())


class PartlySilentDns(FakeDns):
    """Does not answer for names that start with `silent`, until the test ends."""

    def __init__(self) -> None:
        super().__init__()
        self.end = threading.Event()
        self.threads: set[threading.Thread] = set()

    def query(self, host: str) -> list[str]:
        self.queries.append(host)
        self.threads.add(threading.current_thread())
        if host.startswith("silent"):
            self.end.wait(30)
            raise socket.gaierror(socket.EAI_AGAIN, "try again")
        return ["8.8.8.8"]


@pytest.fixture
def silent_dns(monkeypatch: pytest.MonkeyPatch) -> Iterator[PartlySilentDns]:
    monkeypatch.setattr(module, "_SLOW_AFTER", 0.05)
    dns = PartlySilentDns()
    yield dns
    dns.end.set()


def look_up_together(dns: PartlySilentDns, *hosts: str, timeout: float = 0.3) -> list[Lookup]:
    """Look up all these hosts at once, in this order."""

    async def main() -> list[Lookup]:
        resolver = Resolver(timeout, dns.query)
        found = await asyncio.gather(*(look_up_until_done(resolver, host) for host in hosts))
        resolver.close()
        return found

    return run(main())


def test_silent_name_servers_do_not_block_other_names(silent_dns: PartlySilentDns) -> None:
    silent = [f"silent{number}.test" for number in range(100)]
    healthy = [f"a{number}.test" for number in range(20)]
    found = look_up_together(silent_dns, *silent, *healthy)
    assert {one.failure for one in found[:100]} == {"no answer from the name server within 0.3 s"}
    assert {one.addresses for one in found[100:]} == {("8.8.8.8",)}


def test_the_timeout_counts_from_the_start_of_the_lookup_not_from_queueing(
    silent_dns: PartlySilentDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is one thread: the second name is queued for longer than the timeout."""
    monkeypatch.setattr(module, "_MAX_THREADS", 1)
    threading.Timer(0.6, silent_dns.end.set).start()
    silent, healthy = look_up_together(silent_dns, "silent.test", "a.test", timeout=0.2)
    assert len(silent_dns.threads) == 1
    assert silent.failure == "no answer from the name server within 0.2 s"
    assert healthy.addresses == ("8.8.8.8",)


def test_a_slow_lookup_raises_pending_so_that_its_caller_can_continue(silent_dns: PartlySilentDns) -> None:
    async def main() -> None:
        resolver = Resolver(30.0, silent_dns.query)
        with pytest.raises(LookupPending):
            await resolver.look_up("silent.test")
        silent_dns.end.set()
        assert (await look_up_until_done(resolver, "silent.test")).failure == "try again"
        assert silent_dns.queries == ["silent.test"]
        resolver.close()

    run(main())


def test_a_failure_without_a_waiting_caller_is_cached_until_the_caller_retries(
    silent_dns: PartlySilentDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SERVER_ERROR_TTL", 0.0)

    async def main() -> None:
        resolver = Resolver(30.0, silent_dns.query)
        with pytest.raises(LookupPending):
            await resolver.look_up("silent.test")
        silent_dns.end.set()
        await asyncio.sleep(0.1)
        assert (await resolver.look_up("silent.test")).failure == "try again"
        assert silent_dns.queries == ["silent.test"]
        resolver.close()

    run(main())


def test_names_of_a_slow_domain_come_last_and_leave_threads_to_others(
    silent_dns: PartlySilentDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_FAST_LOOKUPS", 1)
    monkeypatch.setattr(module, "_MAX_SLOW_DOMAIN_THREADS", 2)
    farm = [f"silent{number}.farm.test" for number in range(10)]

    async def main() -> None:
        resolver = Resolver(30.0, silent_dns.query)
        callers = [asyncio.create_task(look_up_until_done(resolver, host)) for host in (*farm, "a.test", "b.test")]
        assert [(await callers[number]).addresses for number in (10, 11)] == [("8.8.8.8",)] * 2
        await asyncio.sleep(0.3)
        # One name of the farm was looked up before its domain counted as slow; two more follow after the other names.
        assert silent_dns.queries == [farm[0], "a.test", "b.test", farm[1], farm[2]]
        for caller in callers[:10]:
            caller.cancel()
        resolver.close()

    run(main())


def test_a_domain_that_answers_at_once_is_no_longer_slow(
    silent_dns: PartlySilentDns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_MAX_SLOW_DOMAIN_THREADS", 1)

    async def main() -> None:
        resolver = Resolver(0.1, silent_dns.query)
        await look_up_until_done(resolver, "silent.farm.test")
        await look_up_until_done(resolver, "b.farm.test")  # uses the one thread for slow domains, and answers
        assert (await look_up_until_done(resolver, "silent2.farm.test")).failure
        assert (await look_up_until_done(resolver, "c.farm.test")).addresses == ("8.8.8.8",)
        resolver.close()

    run(main())


def test_a_system_that_allows_few_threads_only_makes_names_wait(
    silent_dns: PartlySilentDns, monkeypatch: pytest.MonkeyPatch
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
    found = look_up_together(silent_dns, "silent.test", *(f"a{number}.test" for number in range(20)))
    assert [one.addresses for one in found] == [(), *[("8.8.8.8",)] * 20]


def test_a_result_after_the_timeout_is_cached_for_the_next_lookup() -> None:
    async def main() -> None:
        dns = FakeDns(a_test=["8.8.8.8"])
        dns.opened.clear()
        resolver = Resolver(0.05, dns.query)
        assert (await resolver.look_up("a.test")).addresses == ()
        dns.opened.set()
        await asyncio.sleep(0.05)
        assert (await resolver.look_up("a.test")).addresses == ("8.8.8.8",)
        assert dns.queries == ["a.test"]
        resolver.close()

    run(main())


def test_an_address_that_does_not_respond_is_tried_last() -> None:
    async def main() -> None:
        resolver = Resolver(5.0, FakeDns(a_test=["8.8.8.8", "8.8.4.4"]).query)
        await resolver.look_up("a.test")
        resolver.demote("a.test", "8.8.8.8")
        assert (await resolver.look_up("a.test")).addresses == ("8.8.4.4", "8.8.8.8")
        resolver.demote("a.test", "1.1.1.1")
        resolver.demote("never-met.test", "1.1.1.1")
        assert (await resolver.look_up("a.test")).addresses == ("8.8.4.4", "8.8.8.8")
        resolver.close()

    run(main())


@pytest.mark.parametrize("host", ["localhost", "127.1", "a..b", "x" * 300, "-", "a" * 64 + ".test"])
def test_the_system_resolves_a_name_or_raises_os_error(host: str) -> None:
    query: Callable[[str], list[str]] = module._query_system
    try:
        found = query(host)
    except OSError:
        found = []
    assert all(address.startswith("127.") or address == "::1" for address in found)
