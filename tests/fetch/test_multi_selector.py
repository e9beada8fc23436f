"""A watched socket is ready when libcurl can read from it or write to it."""

from __future__ import annotations

import asyncio
import select
import socket
from collections.abc import Iterator
from contextlib import closing

import pycurl
import pytest

from periplus.fetch.multi import SocketSelector, socket_selector

IN, OUT = pycurl.CSELECT_IN, pycurl.CSELECT_OUT


Ends = tuple[socket.socket, socket.socket]


@pytest.fixture(params=[SocketSelector, socket_selector])
def watch(request: pytest.FixtureRequest) -> Iterator[SocketSelector]:
    with closing(request.param()) as made:
        yield made


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair()
    with one, other:
        yield one, other


def test_a_socket_is_ready_for_the_watched_events(
    watch: SocketSelector, ends: tuple[socket.socket, socket.socket]
) -> None:
    here, there = ends
    watch.watch(here.fileno(), pycurl.POLL_IN)
    assert watch.ready() == []
    there.send(b"x")
    assert watch.ready() == [(here.fileno(), IN)]
    watch.change(here.fileno(), pycurl.POLL_OUT)
    assert watch.ready() == [(here.fileno(), OUT)]
    watch.change(here.fileno(), pycurl.POLL_INOUT)
    assert watch.ready() == [(here.fileno(), IN | OUT)]
    watch.unwatch(here.fileno())
    assert watch.ready() == []


def test_a_connection_that_ended_can_be_read(watch: SocketSelector, ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = ends
    watch.watch(here.fileno(), pycurl.POLL_IN)
    there.close()
    ((descriptor, ready),) = watch.ready()
    assert (descriptor, ready & IN) == (here.fileno(), IN)


def test_a_closed_socket_can_be_unwatched(watch: SocketSelector, ends: tuple[socket.socket, socket.socket]) -> None:
    here, _ = ends
    descriptor = here.fileno()
    watch.watch(descriptor, pycurl.POLL_IN)
    here.close()
    watch.unwatch(descriptor)
    assert watch.ready() == []


def test_an_event_loop_wakes_up_for_the_selector(
    watch: SocketSelector, ends: tuple[socket.socket, socket.socket]
) -> None:
    here, there = ends

    async def wait() -> list[tuple[int, int]]:
        woken = asyncio.Event()
        asyncio.get_running_loop().add_reader(watch, woken.set)
        watch.watch(here.fileno(), pycurl.POLL_IN)
        there.send(b"x")
        await asyncio.wait_for(woken.wait(), 10)
        asyncio.get_running_loop().remove_reader(watch)
        return watch.ready()

    assert asyncio.run(wait()) == [(here.fileno(), IN)]


def test_every_system_has_a_selector(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "epoll", raising=False)
    with closing(socket_selector()) as made:
        assert type(made) is SocketSelector
