"""Runs a described web on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self, TypeVar

from .certificates import CertificateAuthority
from .log import RequestLog
from .message import host_of
from .page import Certificate, Site, Sites
from .protocol import HttpProtocol, Shared

ADDRESS = "127.0.0.1"
T = TypeVar("T")


class TestWeb:
    """A web on loopback, served from a thread of its own while the `with` block runs.

    Clients reach every host of it through the curl-style mappings in `connect_to`.
    """

    __test__ = False  # pytest would collect the class by its name

    def __init__(
        self,
        sites: Iterable[Site] = (),
        *,
        https: bool = False,
        log_file: Path | None = None,
    ) -> None:
        self.log = RequestLog(log_file)
        self._ports: dict[tuple[str, str], int] = {}  # chosen by the system at the start, kept through an outage
        self._shared = Shared(Sites(sites), self.log)
        self._https = https
        self._folder: TemporaryDirectory[str] | None = None
        self._authority: CertificateAuthority | None = None

    @property
    def http_port(self) -> int:
        """The http port of sites without an address of their own."""
        return self._ports["http", ADDRESS]

    @property
    def https_port(self) -> int:
        """The https port of sites without an address of their own."""
        return self._ports["https", ADDRESS]

    @property
    def connect_to(self) -> list[str]:
        """Values for curl's --connect-to that lead every host at port 80 or 443 to this web."""
        rules = []
        for (scheme, address), here in self._ports.items():
            port = 443 if scheme == "https" else 80
            hosts = (
                [site.host for site in self._shared.sites if site.address == address] if address != ADDRESS else [""]
            )
            rules += [f"{host}:{port}:{address}:{here}" for host in hosts]
        return sorted(rules, key=lambda rule: rule.startswith(":"))  # the first that fits counts: the general ones last

    @property
    def authority(self) -> CertificateAuthority:
        """The CA of this web, for certificates beyond those a Site asks for."""
        if self._authority is None:
            raise RuntimeError("this web has no certificates: start it with TestWeb(..., https=True)")
        return self._authority

    @property
    def ca_file(self) -> Path:
        """The CA certificate a client must trust, as PEM."""
        return self.authority.file

    def site(self, host: str) -> Site:
        """The site that answers for a host, to look at or change its pages. Write "https://host" for that
        scheme's own site, if the two differ."""
        scheme, _, authority = host.rpartition("://")
        site = self._shared.sites.find(scheme or None, authority, host_of(authority))
        if site is None:
            raise KeyError(host)
        return site

    def add(self, *sites: Site) -> None:
        """Serve these too from now on; a site of the same host is replaced."""
        for site in sites:
            self._shared.sites.add(site)

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Drop every connection and refuse new ones while the block lasts; then the same ports work again."""
        self._stop()
        try:
            yield
        finally:
            self._start()

    def __enter__(self) -> Self:
        if self._https:
            self._folder = TemporaryDirectory(prefix="testweb-")
            self._authority = CertificateAuthority(Path(self._folder.name))
        self._start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self.log.close()
        if self._folder is not None:
            self._folder.cleanup()
        if error is None and self._shared.failures:
            raise self._shared.failures[0]  # a handler of the test itself is wrong

    def _start(self) -> None:
        # Not uvloop: it may tell of a new connection before the end of an older one; the log would be wrong.
        self._loop = asyncio.SelectorEventLoop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="testweb", daemon=True)
        self._thread.start()
        self._servers = self._run(self._listen())

    def _stop(self) -> None:
        self._run(self._shut())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        # The timeout is for a handler that blocks the loop: an error says more than a test that hangs.
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(timeout=10)

    async def _listen(self) -> list[asyncio.Server]:
        tls = self.authority.server_context(self._certificate_of) if self._https else None
        servers = []
        for address in sorted({ADDRESS, *(site.address or ADDRESS for site in self._shared.sites)}):
            for scheme, context in (("http", None), ("https", tls))[: 1 + self._https]:
                server = await self._loop.create_server(
                    partial(HttpProtocol, self._shared, scheme),
                    address,
                    self._ports.get((scheme, address), 0),
                    ssl=context,
                    backlog=4096,
                )
                self._ports[scheme, address] = server.sockets[0].getsockname()[1]
                servers.append(server)
        return servers

    async def _shut(self) -> None:
        for server in self._servers:
            server.close()
        await self._shared.close_all()
        rest = asyncio.all_tasks() - {asyncio.current_task()}  # unfinished TLS handshakes
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _certificate_of(self, name: str) -> Certificate:
        site = self._shared.sites.find("https", name, name)
        return site.certificate if site else "valid"
