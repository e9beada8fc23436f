"""Runs `periplus up` over a test web, and asks its site."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crawl.crawling import Outcome, environment, reach, wait
from testweb import TestWeb
from web.serving import Site

PATIENCE = 180.0  # seconds; generous, because the machine may be busy
# A child counts as sound after a second, so that the pauses before restarts stay short.
PROGRAM = """
from periplus.cli.main import main
from periplus.live import supervisor
supervisor._QUIET_SECONDS = 1.0
main()
"""
QUICK = environment(store__segment_seconds=0.3)


@dataclass(frozen=True)
class Up:
    """A running command and its site."""

    process: subprocess.Popen[str]
    site: Site
    home: Path

    def stop(self, number: int = signal.SIGINT) -> Outcome:
        """Stop the command and wait for its end."""
        self.process.send_signal(number)
        return wait(self.process, PATIENCE)

    def health(self) -> tuple[int, dict[str, Any]]:
        """The answer of the health check."""
        answer = self.site.get("/healthz")
        return answer.status, answer.json

    def documents(self) -> int:
        """How many pages can be searched; 0 while the site starts again."""
        try:
            return int(self.health()[1]["documents"])
        except OSError:
            return 0

    def children(self) -> dict[str, int]:
        """The process ids of the children by name, from the log."""
        text = (self.home / "up.log").read_text()
        return {name: int(pid) for name, pid in re.findall(r"(\w+) started \(process (\d+)\)", text)}


@contextmanager
def up(
    web: TestWeb, home: Path, *arguments: str, env: Mapping[str, str] = QUICK, patience: float = PATIENCE
) -> Iterator[Up]:
    """`periplus up` from the moment when its site listens."""
    command = ["up", *arguments, "--home", home, "--port", "0", "--json", *reach(web)]
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
        start_new_session=True,
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line + process.stderr.read()
        running = Up(process, Site("127.0.0.1", int(found[1])), home)
        until(lambda: answers(running), patience)
        yield running
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def answers(running: Up) -> bool:
    """Whether the site answers at all."""
    try:
        return running.health()[0] in {200, 503}
    except OSError:
        return False


def until(is_so: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Wait for something that must happen."""
    deadline = time.monotonic() + patience
    while not is_so():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.1)
