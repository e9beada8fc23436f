"""A site listens on the given address, explains why it cannot, and stops on a signal."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from uvicorn import Server

from periplus.config import Serving
from periplus.errors import PortTaken, UsageError
from periplus.site.listener import address_of, listen
from periplus.site.server import run
from periplus.web.app import Sources, create_app
from web.engines import ARCHIVED, FakeEngine, FakeLibrary
from web.serving import Site, searching

TESTS = Path(__file__).parents[1]
SCRIPT = """
import sys
import time
from periplus.config import Serving
from periplus.site.listener import listen
from periplus.site.server import run
from periplus.web.app import Sources, create_app
from web.engines import FakeEngine, FakeLibrary

def slow():
    print("searching", flush=True)
    time.sleep(1)

def make():
    engine = FakeEngine(before=slow if "slow" in sys.argv else lambda: None)
    return create_app(Sources(engine, FakeLibrary(engine)), Serving())

if __name__ == "__main__":
    with listen("127.0.0.1", 0) as listener:
        print(listener.getsockname()[1], flush=True)
        run(make, listener, int(sys.argv[1]))
    print("ended", flush=True)
"""


@contextmanager
def started(folder: Path, workers: int, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], Site]]:
    script = folder / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(TESTS)}
    process = subprocess.Popen(
        [sys.executable, str(script), str(workers), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            site = Site("127.0.0.1", int(process.stdout.readline()))
            wait_for(site)
            yield process, site
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # the workers too


def wait_for(site: Site) -> None:
    for _ in range(200):
        try:
            if site.get("/healthz").status == 200:
                return
        except OSError:
            time.sleep(0.05)
    pytest.fail("the site did not start")


def wait_for_workers(parent: int, workers: int) -> None:
    """Every worker is past its start, where the interpreter itself would answer a signal."""
    if workers == 1:
        return
    for _ in range(200):
        children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
        maps = [Path(f"/proc/{child}/maps").read_text(encoding="utf-8") for child in children]
        if sum("uvloop" in text for text in maps) >= workers:
            time.sleep(0.5)
            return
        time.sleep(0.05)
    pytest.fail("the workers did not start")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 2])
def test_a_stop_by_signal_is_no_failure(tmp_path: Path, number: signal.Signals, workers: int) -> None:
    with started(tmp_path, workers) as (process, site):
        assert site.get("/search?q=harbour").status == 200
        wait_for_workers(process.pid, workers)
        os.killpg(process.pid, number)  # as a terminal does: the workers receive the signal too
        output, messages = process.communicate(timeout=20)
    assert (process.returncode, output.strip()) == (0, "ended")
    assert "Traceback" not in messages


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_a_search_that_runs_when_the_site_stops_is_answered(tmp_path: Path, workers: int) -> None:
    with started(tmp_path, workers, "slow") as (process, site), ThreadPoolExecutor() as pool:
        wait_for_workers(process.pid, workers)
        running = [pool.submit(site.get, f"/api/search?q={number}") for number in range(3)]
        assert process.stdout is not None
        seen = 0
        while seen < len(running):  # two processes may write into one line
            seen += process.stdout.readline().count("searching")
        process.terminate()
        assert [answer.result().status for answer in running] == 3 * [200]
        process.communicate(timeout=20)
    assert process.returncode == 0


def test_a_busy_site_accepts_several_new_clients_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ports: list[int] = []

    def note(self: object, sockets: list[socket.socket]) -> None:
        ports.extend(one.getsockname()[1] for one in sockets)

    monkeypatch.setattr(Server, "run", note)
    engine = FakeEngine()
    with listen("127.0.0.1", 0) as listener:
        run(lambda: create_app(Sources(engine, FakeLibrary(engine)), Serving()), listener)
        assert ports == 16 * [listener.getsockname()[1]]


def test_clients_that_do_not_read_their_answers_stop_nobody() -> None:
    large = replace(ARCHIVED, body=b"<p>" + 8_000_000 * b"x")
    engine = FakeEngine(archive={ARCHIVED.url: large})
    with searching(engine) as site, ExitStack() as stack:
        for _ in range(20):
            connection = stack.enter_context(site.connect())
            connection.sendall(f"GET /cached/raw?url={ARCHIVED.url} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            assert connection.recv(1) == b"H"
        for _ in range(5):
            assert site.get("/api/search?q=x").status == 200


@pytest.mark.slow
def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    with started(tmp_path, 2) as (process, site):
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii").split()
        os.kill(int(children[-1]), signal.SIGKILL)
        time.sleep(1.5)
        for _ in range(20):
            assert site.get("/search?q=harbour").status == 200


def test_a_port_that_is_taken_is_named() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(PortTaken) as caught:
            listen("127.0.0.1", port)
    assert str(caught.value) == (
        f"port {port} is taken: another program listens on 127.0.0.1. Stop it, or choose another port with --port."
    )


@pytest.mark.parametrize("host", ["no.such.host.invalid", "203.0.113.77", "::zz"])
def test_an_address_of_another_machine_cannot_be_listened_on(host: str) -> None:
    with pytest.raises(UsageError, match=host):
        listen(host, 0)


def test_a_port_below_1024_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(socket, "create_server", refuse)
    with pytest.raises(PortTaken, match="below 1024"):
        listen("127.0.0.1", 80)


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "http://127.0.0.1:{}/"), ("::1", "http://[::1]:{}/")])
def test_the_address_can_be_typed_into_a_browser(host: str, shown: str) -> None:
    try:
        listener = listen(host, 0)
    except UsageError:
        pytest.skip(f"this machine has no {host}")
    with listener:
        assert address_of(listener) == shown.format(listener.getsockname()[1])


def test_a_name_is_looked_up() -> None:
    with listen("localhost", 0) as listener:
        assert listener.getsockname()[0] in {"127.0.0.1", "::1"}
