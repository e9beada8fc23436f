"""Runs the server of a made web in a process of its own, and reads its log of requests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.background import Program, started
from living.made_web import MadeWeb


@dataclass(frozen=True)
class WebServer:
    """A running server of a made web."""

    program: Program
    log: Path

    @property
    def port(self) -> int:
        """Where it listens on loopback."""
        return int(self.program.first_line)

    def requests(self, start: int = 0) -> tuple[list[tuple[float, str]], int]:
        """Time and URL of the pages that were requested after a position of the log; and the position now."""
        with self.log.open("rb") as file:
            file.seek(start)
            lines = file.read().rpartition(b"\n")[0]
        cells = [line.decode().split("\t") for line in lines.splitlines()]
        found = [(float(at), f"http://{host}{path}") for at, host, path, status in cells if status == "200"]
        return found, start + len(lines) + bool(lines)

    def size(self) -> int:
        """The position at the end of the log."""
        return self.log.stat().st_size


@contextmanager
def served(web: MadeWeb, folder: Path) -> Iterator[WebServer]:
    """Serves the web until the block ends."""
    log, program = folder / "requests.log", Path(__file__).with_name("made_server.py")
    with started([sys.executable, str(program), str(web.hosts), str(web.pages), str(log)]) as running:
        yield WebServer(running, log)
