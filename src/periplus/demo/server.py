"""Serves the documentation of this machine on 127.0.0.1, with one virtual host per package.

An index host links to all packages. The server serves only the files of the given sites.
"""

from __future__ import annotations

import mimetypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from periplus.demo.library import INDEX_HOST, Site
from periplus.demo.page import link_list, page
from periplus.errors import PortTaken

LOOPBACK = "127.0.0.1"
_FIRST_PORT = 8090
_PORTS = 100
_ROBOTS = b"User-agent: *\nAllow: /\n"
_TITLE = "Documentation on this machine"


class DocumentationServer(ThreadingHTTPServer):
    """Serves several sites, selected by the Host header."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int) -> None:
        """Listens on a port; raises OSError when it is taken. Requests are answered once `serving` runs."""
        super().__init__((LOOPBACK, port), _Handler)
        self.port: int = self.server_address[1]
        self._files: dict[tuple[str, str], Path | bytes] = {}
        self._hosts: tuple[str, ...] = ()

    @property
    def index_url(self) -> str:
        """The URL of the page that links to all sites."""
        return f"http://{INDEX_HOST}:{self.port}/"

    @property
    def hosts(self) -> tuple[str, ...]:
        """The host names of all sites."""
        return self._hosts

    @property
    def connect_to(self) -> list[str]:
        """The values of fetch.connect_to that lead these host names to this server."""
        return [f"{host}:{self.port}:{LOOPBACK}:{self.port}" for host in self._hosts]

    @contextmanager
    def serving(self, sites: list[Site]) -> Iterator[None]:
        """Serves these sites from a thread."""
        self._hosts = (INDEX_HOST, *(site.host for site in sites))
        self._files = {(site.host, path): file for site in sites for path, file in site.files.items()}
        self._files |= {(host, "/robots.txt"): _ROBOTS for host in self._hosts}
        entries = [(f"http://{site.host}:{self.port}/", site.title, f"{site.pages} pages") for site in sites]
        self._files[INDEX_HOST, "/index.html"] = page(_TITLE, f"<h1>{escape(_TITLE)}</h1>{link_list(entries)}")
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            thread.join()

    def find(self, host: str, path: str) -> tuple[str, bytes] | None:
        """The content type and body of a page; None when there is none."""
        path = f"{path}index.html" if path.endswith("/") else path
        file = self._files.get((host.lower(), path))
        if file is None:
            return None
        kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
        return kind, file if isinstance(file, bytes) else file.read_bytes()


def listen(port: int | None = None) -> DocumentationServer:
    """Starts a server on this port, or on the first free port from 8090 to 8189."""
    for candidate in range(_FIRST_PORT, _FIRST_PORT + _PORTS) if port is None else (port,):
        try:
            return DocumentationServer(candidate)
        except OSError:
            continue
    what = f"port {port}" if port else f"every port from {_FIRST_PORT} to {_FIRST_PORT + _PORTS - 1}"
    raise PortTaken(f"{what} is taken", f"other programs listen on {LOOPBACK}")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    wbufsize = -1  # head and body in one packet
    server: DocumentationServer

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        host = self.headers.get("Host", "").partition(":")[0]
        try:
            found = self.server.find(host, unquote(urlsplit(self.path).path))
        except (OSError, ValueError):
            found = None
        status = HTTPStatus.OK if found else HTTPStatus.NOT_FOUND
        kind, body = found or ("text/html", page("Not found", "<h1>Not found</h1>"))
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class's name
        del format, args
