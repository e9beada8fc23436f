"""The interface of a crawler that a bench runs, ours or a peer."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from harness.web import Web


@dataclass(frozen=True)
class Job:
    """The same task for every crawler."""

    web: Web
    port: int  # of 127.0.0.1, which serves all hosts of the web
    folder: Path  # the crawler's working folder; everything it writes goes here
    pages: int | None  # stop after about this many; None: fetch everything
    workers: int
    concurrency: int  # requests in flight


class Crawler(Protocol):
    """One way of crawling; the trial calls `provision` once, then `command` for each run."""

    name: str
    takes_budget: bool  # whether it can stop after a number of pages
    good_exits: frozenset[int]  # exit codes of a successful run, dead links included

    def provision(self, cache: Path, /) -> None:
        """Makes the crawler runnable, or raises BenchError saying what is missing."""

    def version(self) -> str:
        """The version of the crawler."""

    def command(self, job: Job, /) -> list[str]:
        """The command line for the job; it may write files to the job's folder first."""

    def remarks(self, folder: Path, /) -> dict[str, Any]:
        """Extra keys for the result, from the files of the finished run; usually none."""
