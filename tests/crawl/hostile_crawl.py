"""Crawls friendly hosts together with hostile ones, for tests and benchmarks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from crawl.crawling import environment, reach, start
from testweb import Site, TestWeb, chain

FRIENDS = [f"friend{number}.test" for number in range(20)]
SEEDS = [f"http://{host}/" for host in FRIENDS]
SETTINGS: dict[str, Any] = {
    "scope__hosts": ".*",
    "fetch__attempts": 2,
    "fetch__timeout": 5,
    "fetch__retry_seconds": 0.1,
}


def friendly(pages: int) -> list[Site]:
    """Hosts whose pages link to the next one, so that the host's delay alone sets its pace."""
    return [chain(host, pages) for host in FRIENDS]


def crawl_apart(web: TestWeb, home: Path, seeds: Sequence[str], **settings: Any) -> int:
    """Crawl in a process of its own until nothing is left; returns its peak memory in megabytes."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "seeds").write_text("\n".join(seeds))
    env = environment(**SETTINGS | settings)
    child = start("crawl", "--seeds", home / "seeds", "--home", home / "c", *reach(web), env=env)
    with child:
        assert child.stdout is not None
        assert child.stderr is not None
        with PeakMemory(child.pid) as peak:
            messages = child.stdout.read() + child.stderr.read()
    assert child.returncode == 0, messages
    return peak.megabytes


class PeakMemory:
    """The peak memory of a process, looked up until the block ends.

    `ru_maxrss` would be at least the memory of the test process: a program that is started inherits its maximum.
    """

    def __init__(self, pid: int) -> None:
        self._status, self.megabytes = Path(f"/proc/{pid}/status"), 0
        self._ended = Event()
        self._thread = Thread(target=self._look_often)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look_often(self) -> None:
        while not self._ended.wait(0.1):
            with suppress(OSError):  # the process has ended
                found = [line.split() for line in self._status.read_text().splitlines() if line.startswith("VmHWM")]
                self.megabytes = max([self.megabytes, *(int(words[1]) // 1024 for words in found)])
