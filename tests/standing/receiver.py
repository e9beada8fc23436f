"""A webhook on loopback that keeps what it gets, and answers as a test wants."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver:
    """What a webhook got, and what it answers."""

    def __init__(self) -> None:
        self.port = 0
        self.status = 204
        self.location = ""  # of a redirect
        self.answer = b""
        self.wait = threading.Event()  # set: answers at once
        self.wait.set()
        self.requests: list[tuple[str, str, dict[str, str]]] = []  # method, path, headers
        self.messages: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?key=1"

    @property
    def items(self) -> list[Any]:
        """The items of all messages."""
        return [item for message in self.messages for item in message["items"]]


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Serves a webhook on a free port of this machine."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            receiver.requests.append((self.command, self.path, {key.lower(): one for key, one in self.headers.items()}))
            receiver.messages.append(json.loads(body))
            receiver.wait.wait(30)
            self.send_response(receiver.status)
            if receiver.location:
                self.send_header("Location", receiver.location)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            self.wfile.write(receiver.answer)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            del code, size

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.wait.set()
        server.shutdown()
        server.server_close()
        thread.join()
