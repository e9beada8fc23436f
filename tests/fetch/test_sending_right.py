"""A process that may no longer send does not send the request that it was about to send."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from periplus.fetch.multi import SendingForbidden
from testweb import Page, Site, TestWeb

pytestmark = pytest.mark.slow
SECONDS = 1.0  # that the right lasts
HOSTS = [f"host{number}.test" for number in range(4)]

# Starts a request to every host, stops itself before libcurl has written any, and says how each has ended.
STOPPED = """
import asyncio, json, os, signal, sys, time
from periplus.config import Fetching
from periplus.fetch.client import Fetcher

hosts, rules, seconds, warm = json.loads(sys.argv[1])

async def main():
    ends = time.monotonic() + 1000
    settings = Fetching(allow_private=True, connect_to=rules)
    async with Fetcher(settings, "test", public_allowed=False, may_send=lambda: time.monotonic() < ends) as fetcher:
        if warm:  # the connections are open and idle when the process is stopped
            await asyncio.gather(*[fetcher.fetch(f"http://{host}/warm") for host in hosts])
        tasks = [asyncio.create_task(fetcher.fetch(f"http://{host}/")) for host in hosts]
        while len(fetcher._transfers._active) < len(hosts):
            await asyncio.sleep(0)
        ends = time.monotonic() + seconds
        os.kill(os.getpid(), signal.SIGSTOP)
        for end in await asyncio.gather(*tasks, return_exceptions=True):
            print(type(end).__name__, flush=True)

asyncio.run(main())
"""


@pytest.fixture
def web() -> Iterator[TestWeb]:
    pages = {"/": Page("A", "text"), "/warm": Page("B", "text")}
    with TestWeb([Site(host, pages) for host in HOSTS]) as web:
        yield web


def paused(web: TestWeb, seconds: float, pause: float, *, warm: bool) -> list[str]:
    """Let a process that may send for *seconds* stop, wait for the pause, and let it go on; how its requests end."""
    argument = json.dumps([HOSTS, web.connect_to, seconds, warm])
    with subprocess.Popen([sys.executable, "-c", STOPPED, argument], stdout=subprocess.PIPE, text=True) as child:
        _, status = os.waitpid(child.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        time.sleep(pause)
        os.kill(child.pid, signal.SIGCONT)
        out, _ = child.communicate(timeout=30)
    return out.split()


def asked(web: TestWeb) -> list[str]:
    return [path for host in HOSTS for path in web.log.paths(host) if path == "/"]


@pytest.mark.parametrize("warm", [False, True], ids=["new connections", "idle connections"])
def test_a_process_stopped_beyond_its_right_sends_nothing_when_it_goes_on(web: TestWeb, *, warm: bool) -> None:
    assert paused(web, SECONDS, SECONDS + 0.5, warm=warm) == [SendingForbidden.__name__] * len(HOSTS)
    assert asked(web) == []


def test_a_process_stopped_within_its_right_goes_on(web: TestWeb) -> None:
    assert paused(web, 1000.0, 0.1, warm=False) == ["Response"] * len(HOSTS)
    assert asked(web) == ["/"] * len(HOSTS)
