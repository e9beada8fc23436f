"""Shard nodes and brokers as real processes."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crawl.crawling import environment, start, wait
from web.serving import Site

PATIENCE = 60.0  # seconds
_ADDRESS = re.compile(r" at http://127\.0\.0\.1:(\d+)/")


@dataclass
class Server:
    """A `periplus serve` that was started."""

    child: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    _site: Site | None = None

    @property
    def site(self) -> Site:
        """The site, when it answers."""
        if self._site is None:
            assert self.child.stderr is not None
            while not (found := _ADDRESS.search(line := self.child.stderr.readline())):
                assert line, f"it has ended: {self.lines}"
                self.lines.append(line)
            self._site = Site("127.0.0.1", int(found[1]))
            wait_until(lambda: _answers(Site("127.0.0.1", int(found[1]))))
        return self._site

    def send(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.child.send_signal(number)
        if number is signal.SIGKILL:
            self.child.wait()

    def stop(self) -> None:
        """End it, whatever state it is in."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGCONT)
            self.child.terminate()
        wait(self.child)


@dataclass
class Machines:
    """Starts servers over one collection, and ends them."""

    home: Path
    started: list[Server] = field(default_factory=list)

    def serve(self, *options: str, home: Path | None = None, **settings: object) -> Server:
        """Start a server; it is not ready before `site` is read."""
        env = environment(**settings)
        server = Server(start("serve", "--home", home or self.home, *options, env=env))
        self.started.append(server)
        return server

    def nodes(self, *shards: str) -> list[Server]:
        """Start shard nodes, all at once."""
        found = [self.serve("--shards", one, "--port", "0") for one in shards]
        for node in found:
            node.site  # noqa: B018  # waits
        return found

    def broker(self, nodes: Sequence[Server], *options: str, home: Path | None = None, **settings: object) -> Server:
        """Start a broker over nodes."""
        urls = ",".join(node.site.base for node in nodes)
        return self.serve("--nodes", urls, "--port", "0", *options, home=home, **settings)


@contextmanager
def machines(home: Path) -> Iterator[Machines]:
    """Servers over a collection."""
    found = Machines(home)
    try:
        yield found
    finally:
        for server in found.started:
            server.stop()


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait for something that must come."""
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _answers(site: Site) -> bool:
    try:
        return site.get("/healthz").status in {200, 503}
    except OSError:
        return False
