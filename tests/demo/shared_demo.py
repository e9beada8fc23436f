"""One demo for the whole test run, because building it takes many seconds.

One test at a time has it: its documentation is served under a port that belongs to its addresses.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from unittest import mock

from crawl.crawling import environment, typed
from periplus.demo import server

SECRET = "a-password-of-somebody"


@dataclass(frozen=True)
class Demo:
    """A demo that `periplus demo --exit` made in an empty folder, and what the command printed."""

    home: Path
    out: str
    err: str
    seconds: float


@contextmanager
def shared_demo(folder: Path) -> Iterator[Demo]:
    """The demo in *folder*, for the caller alone until the block is left; the first caller makes it."""
    folder.mkdir(exist_ok=True)
    home, record = folder / "home", folder / "made.json"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not record.exists():
            shutil.rmtree(home, ignore_errors=True)
            record.write_text(json.dumps(asdict(_made(home)), default=str))
        made = json.loads(record.read_text())
        yield Demo(**made | {"home": home})


@contextmanager
def own_ports() -> Iterator[None]:
    """Demos that begin in this process avoid the ports of other test runs."""
    with mock.patch.object(server, "_FIRST_PORT", 20_000 + os.getppid() % 400 * 100):
        yield


def _made(home: Path) -> Demo:
    started = time.monotonic()
    with own_ports():
        outcome = typed("demo", "--home", home, "--exit", env=environment() | {"TEST_SECRET": SECRET})
    assert outcome.code == 0, outcome.err
    return Demo(home, outcome.out, outcome.err, time.monotonic() - started)
