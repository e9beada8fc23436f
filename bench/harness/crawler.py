"""What does a bench need to know about a crawler, ours or a peer's, to run it?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.web import Web


@dataclass(frozen=True)
class Job:
    """The same task for every crawler."""

    web: Web
    port: int  # where 127.0.0.1 answers for all hosts of the web
    folder: Path  # the crawler's working folder; everything it writes goes here
    pages: int | None  # stop after about this many; None: fetch everything
    workers: int
    concurrency: int  # requests in flight


class Crawler(Protocol):
    """One way of crawling; the trial calls `provision` once, then `command` for each run."""

    name: str
    takes_budget: bool  # whether it can stop after a number of pages
    good_exits: frozenset[int]  # what it returns when it did its work, dead links included

    def provision(self, cache: Path, /) -> None:
        """Makes the crawler runnable, or raises BenchError saying what is missing."""

    def version(self) -> str:
        """What was measured."""

    def command(self, job: Job, /) -> list[str]:
        """The command line that does the job; files it needs may be written to the job's folder."""

    def remarks(self, folder: Path, /) -> dict[str, Any]:
        """What the finished run left in its folder that belongs into the result; mostly nothing."""
