"""An S3 server on loopback: moto in a process of its own, behind a proxy that can fail.

`S3Server` starts both. `answering(503)` and `refusing()` make the store unavailable for the duration of a block; the
objects stay. `slow(bytes_per_second)` slows the answers down. `requests` is the log of the proxy.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Lock, Thread
from urllib.request import Request, urlopen

import pytest

_MOTO = """
import logging, sys, time
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""
_REQUEST = re.compile(rb"(GET|PUT|POST|DELETE|HEAD) (\S+) HTTP/1.1\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


class S3Server:
    """An S3 service that can become unavailable and come back."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", _MOTO]
        self._moto = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._moto.stdout is not None
        self._target = int(self._moto.stdout.readline())
        self._status, self._speed = 0, 0.0
        self._connections: set[socket.socket] = set()
        self._lock = Lock()
        self.requests: list[str] = []  # "GET /bucket/name"
        self._port = 0
        self._listen()

    @property
    def endpoint(self) -> str:
        """The address of the service."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that uses the service."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
        }

    def create_bucket(self, name: str) -> str:
        """Create a bucket; returns its address."""
        with urlopen(Request(f"http://127.0.0.1:{self._target}/{name}", method="PUT")):
            return f"s3://{name}"

    @contextmanager
    def answering(self, status: int) -> Iterator[None]:
        """Answer every request with an error in the block."""
        self._status = status
        self._drop_connections()
        try:
            yield
        finally:
            self._status = 0

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse connections in the block."""
        self._close_listener()
        self._drop_connections()
        try:
            yield
        finally:
            self._listen()

    @contextmanager
    def slow(self, bytes_per_second: float) -> Iterator[None]:
        """Answer slowly in the block."""
        self._speed = bytes_per_second
        try:
            yield
        finally:
            self._speed = 0.0

    def break_connections(self) -> None:
        """Break every connection once."""
        self._drop_connections()

    def stop(self) -> None:
        """Stop both processes; the objects are gone."""
        self._close_listener()
        self._drop_connections()
        self._moto.kill()
        self._moto.communicate()

    # -- the proxy ------------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self._port), backlog=64)
        self._port = self._listener.getsockname()[1]
        self._accepting = Thread(target=self._accept, args=(self._listener,), daemon=True)
        self._accepting.start()

    def _close_listener(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join()
        self._listener.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError), client:
            if self._status:
                _refuse(client, self._status)
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server, self._known(client, server):
                Thread(target=self._forward, args=(client, server, True), daemon=True).start()
                self._forward(server, client, False)

    @contextmanager
    def _known(self, *sockets: socket.socket) -> Iterator[None]:
        with self._lock:
            self._connections.update(sockets)
        try:
            yield
        finally:
            with self._lock:
                self._connections.difference_update(sockets)

    def _forward(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if is_request and (found := _REQUEST.match(data)):
                    self.requests.append(f"{found[1].decode()} {found[2].decode()}")
                elif not is_request and self._speed:
                    time.sleep(len(data) / self._speed)
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def _drop_connections(self) -> None:
        with self._lock:
            for connection in self._connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)


def _refuse(client: socket.socket, status: int) -> None:
    """Read one request and answer it with an error."""
    data = b""
    while b"\r\n\r\n" not in data:
        if not (more := client.recv(1 << 16)):
            return
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = _LENGTH.search(head)
    left = (int(length[1]) if length else 0) - len(body)
    while left > 0 and (more := client.recv(1 << 16)):
        left -= len(more)
    client.sendall(b"HTTP/1.1 %d Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status)


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """One server for all tests of a test process; each test creates its bucket."""
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """The server, with the environment that reaches it."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    return s3_server


@pytest.fixture
def bucket(s3: S3Server, request: pytest.FixtureRequest) -> str:
    """The address of a new bucket."""
    name = re.sub(r"[^a-z0-9]+", "-", f"{request.node.name}-{time.time_ns()}".lower()).strip("-")
    return s3.create_bucket(name[-60:].strip("-"))
