"""Serves a site on a free port and sends single requests to it over a real socket."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import turbohtml
from starlette.types import ASGIApp
from uvicorn import Server

from periplus.config import Serving
from periplus.site.listener import listen
from periplus.site.server import configuration
from periplus.web.app import Sources, create_app
from periplus.web.bangs import Bangs
from periplus.web.branding import Branding
from periplus.web.engine_port import Engine
from periplus.web.owner import OwnerFiles
from periplus.web.page.inspect import UrlReport
from periplus.web.page.library_port import Library
from periplus.web.standing_routes import Standing
from web.engines import FakeLibrary


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]  # lower-case names
    body: bytes

    @property
    def text(self) -> str:
        """The body, which must be UTF-8."""
        return self.body.decode()

    @property
    def json(self) -> Any:
        """The body, which must be JSON."""
        return json.loads(self.body)

    @property
    def page(self) -> turbohtml.Document:
        """The body, which must be HTML."""
        assert self.headers["content-type"] == "text/html; charset=utf-8"
        return turbohtml.parse(self.text)


@dataclass(frozen=True, slots=True)
class Site:
    """A site that is being served."""

    host: str
    port: int

    @property
    def base(self) -> str:
        """The address without the last slash."""
        return f"http://{self.host}:{self.port}"

    def get(
        self,
        path: str,
        headers: Mapping[str, str] | None = None,
        method: str = "GET",
        body: bytes | None = None,
        **query: object,
    ) -> Answer:
        """One request on a connection of its own."""
        target = f"{path}?{urlencode(query)}" if query else path
        client = http.client.HTTPConnection(self.host, self.port, timeout=10)
        try:
            client.request(method, target, body, dict(headers or {}))
            response = client.getresponse()
            return Answer(
                response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
            )
        finally:
            client.close()

    def connect(self) -> socket.socket:
        """A connection, for what a well-behaved client would never send."""
        return socket.create_connection((self.host, self.port), timeout=10)


@contextmanager
def serving(app: ASGIApp, port: int = 0) -> Iterator[Site]:
    """Serve the application on this machine; *port*: 0 is a free one."""
    with listen("127.0.0.1", port) as listener:
        host, port = listener.getsockname()
        server = Server(configuration(lambda: app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Site(host, port)
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def searching(
    engine: Engine,
    settings: Serving | None = None,
    branding: Branding | None = None,
    *,
    library: Library | None = None,
    report: UrlReport | None = None,
    owner: OwnerFiles | None = None,
    is_public: bool = False,
    bangs: Bangs | None = None,
    standing: Standing | None = None,
) -> Iterator[Site]:
    """Serve the search site over an engine."""
    library = library or FakeLibrary(engine)
    sources = Sources(engine, library, report, branding or Branding(), owner, bangs or Bangs(), standing)
    with serving(create_app(sources, settings or Serving(), is_public=is_public)) as site:
        yield site
