"""Serves the web of a tiny run from threads, without nginx.

It writes the same access log as nginx; its speed is not meaningful.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from typing import TextIO

from harness.nginx import Server
from harness.web import Web


@contextmanager
def serve(web: Web, folder: Path, _core: int) -> Iterator[Server]:
    """Serves the web from threads of this process until the block ends."""
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "access.log"
    with log.open("w") as stream, _Server({site.host: site.root for site in web.sites}, stream) as server:
        thread = Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield Server(server.server_port, log)
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a crawler may leave its connections open

    def __init__(self, roots: dict[str, Path], log: TextIO) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._roots, self._log, self._lock = roots, log, Lock()

    def answer(self, host: str, path: str) -> tuple[int, str, bytes]:
        """Status, content type and body."""
        root = self._roots.get(host)
        if path == "/robots.txt":
            return 200, "text/plain", b"User-agent: *\nDisallow:" + (b"\n" if root else b" /\n")
        file = root / path.removeprefix("/") if root else None
        if file is None or ".." in path or not file.is_file():
            return 404, "text/plain", b"not found\n"
        return 200, "text/html", file.read_bytes()

    def note(self, *fields: object) -> None:
        """Writes one line of the access log."""
        with self._lock:
            self._log.write("\t".join(map(str, fields)) + "\n")
            self._log.flush()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        host = self.headers.get("Host", "").partition(":")[0]
        status, kind, body = self.server.answer(host, self.path)
        self.server.note(round(time.time(), 3), host, self.command, status, len(body), kind, self.path)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002, the library's name
        """Does nothing; `note` writes the access log."""
