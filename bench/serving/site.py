"""Serves a copy of a collection with two generations of its index, and switches between them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.errors import BenchError
from periplus.store.collection import Collection
from periplus.store.durable import write_file
from periplus.store.generations import CURRENT, INDEX_KIND, Generations

_STOP_SECONDS = 30


@dataclass(frozen=True)
class Served:
    """A site that runs."""

    home: Path
    host: str
    port: int

    def switch(self, number: int) -> None:
        """Makes a generation live, without the check that `periplus index --rollback` does first."""
        write_file(self.home / "index" / CURRENT, f"gen-{number:06}\n".encode())


def copied(collection: Collection, home: Path) -> Path:
    """A collection that has hard links to the live generation twice; the original stays as it is."""
    live = Generations(collection.index, INDEX_KIND).live()
    if live is None:
        raise BenchError("the collection has no index")
    (home / "index").mkdir(parents=True)
    shutil.copy(collection.home / "collection.json", home)
    for number in (1, 2):
        shutil.copytree(live, home / "index" / f"gen-{number:06}", copy_function=os.link)
    Served(home, "", 0).switch(1)
    return home


@contextmanager
def served(home: Path, workers: int, **settings: str) -> Iterator[Served]:
    """Runs `periplus serve` until the block ends."""
    environment = os.environ | {f"PERIPLUS_SERVE__{name.upper()}": value for name, value in settings.items()}
    command = [sys.executable, "-m", "periplus", "serve", "--home", str(home), "--port", "0", "--workers", str(workers)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://(127\.0\.0\.1):(\d+)/", line)
        if not found:
            raise BenchError(f"the site did not start: {line.strip()}")
        yield Served(home, found[1], int(found[2]))
    finally:
        process.terminate()
        process.communicate(timeout=_STOP_SECONDS)
