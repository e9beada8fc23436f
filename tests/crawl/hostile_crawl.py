"""Crawls friendly hosts together with hostile ones, for tests and benchmarks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
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
        messages = child.stdout.read() + child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, messages
    return used.ru_maxrss // 1024
