"""Helpers for tests that give commands to a crawl in a process of its own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from crawl.crawling import environment, reach, start, wait
from periplus.control.state import CrawlState, crawl_state
from periplus.errors import CollectionError
from periplus.store.collection import Collection, open_collection
from testweb import TestWeb

PATIENCE = 60.0  # seconds; only a mistake takes as long
Found = TypeVar("Found")


def until(look: Callable[[], Found], what: str) -> Found:
    """Wait for something to become true; returns it."""
    end = time.monotonic() + PATIENCE
    while not (found := look()):
        assert time.monotonic() < end, f"waited {PATIENCE:.0f} s for {what}"
        time.sleep(0.02)
    return found


class RunningCrawl:
    """A crawl in a process of its own."""

    def __init__(self, web: TestWeb, home: Path, child: subprocess.Popen[str]) -> None:
        self.web, self.home, self.child = web, home, child

    @property
    def collection(self) -> Collection:
        return open_collection(self.home)

    def state(self) -> CrawlState:
        return crawl_state(self.collection)

    def until_running(self, workers: int = 1) -> None:
        """Wait until all workers have published their rows."""

        def is_running() -> bool:
            assert self.child.poll() is None, self.child.communicate()
            try:
                return len(self.state().workers) >= workers
            except CollectionError:
                return False  # it has no catalog yet

        until(is_running, "the workers")

    def until_fetched(self, pages: int) -> None:
        """Wait until so many different pages were requested."""
        until(lambda: len(self.web.log.fetched()) >= pages, f"{pages} pages")

    def until_quiet(self) -> int:
        """Wait until no request is under way; returns the number of requests so far."""
        until(lambda: not any(row.figures["under_way"] for row in self.state().workers), "no request under way")
        return len(self.web.log.entries())

    def until_states(self, *states: str) -> None:
        """Wait until every worker is in one of these states."""
        until(lambda: {row.state for row in self.state().workers} <= {*states}, f"the states {states}")

    def kill(self) -> None:
        """Kill the crawl as the kernel does when memory is short; its workers die with it."""
        self.child.kill()
        self.child.wait()


@contextmanager
def crawling(web: TestWeb, home: Path, *arguments: str, workers: int = 1, **settings: object) -> Iterator[RunningCrawl]:
    """Start a crawl; at the end it is killed if it is still running."""
    words: list[str | Path] = ["crawl", *arguments, "--home", home, "--workers", str(workers), "--json", *reach(web)]
    child = start(*words, env=environment(**settings))
    crawl = RunningCrawl(web, home, child)
    try:
        crawl.until_running(workers)
        yield crawl
    finally:
        if child.poll() is None:
            child.kill()
        wait(child)
