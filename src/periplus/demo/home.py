"""Manages the folder of the demo.

The folder holds the rendered pages, a collection, and demo.json. demo.json records the versions and the port that both
were made with: URLs contain the port of the documentation server, and another Python version renders other pages.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from periplus import __version__
from periplus.demo.library import Site
from periplus.errors import CollectionError, CollectionLocked
from periplus.store.durable import write_file

_STATE = "demo.json"
_LOCK = "demo.lock"


@dataclass(frozen=True, slots=True)
class DemoState:
    """The content of demo.json."""

    edition: str  # versions of Periplus, Python and the packages
    port: int  # of the documentation server
    ready: bool  # whether the index was published


def edition_of(sites: list[Site]) -> str:
    """The versions of everything that is served; when they change, the demo is rebuilt."""
    packages = ", ".join(f"{site.title} {site.pages}" for site in sites)
    return f"periplus {__version__}, Python {platform.python_version()}, {packages}"


@contextmanager
def locked(home: Path) -> Iterator[None]:
    """Locks the folder against a second demo."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        handle = (home / _LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise CollectionError(f"{home} cannot be used", error.strerror or "", "Choose another with --home.") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            why = f"process {handle.read(20).strip() or 'unknown'} has locked it"
            raise CollectionLocked(
                f"the demo in {home} is already running", why, "Use that one, or choose another folder with --home."
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def read_state(home: Path) -> DemoState | None:
    """Reads demo.json; None when it is missing or damaged."""
    try:
        return DemoState(**json.loads((home / _STATE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_state(home: Path, state: DemoState) -> None:
    """Writes demo.json."""
    write_file(home / _STATE, json.dumps(asdict(state)).encode() + b"\n")


def reset(home: Path, state: DemoState) -> None:
    """Removes the pages and the collection of an earlier demo; refuses a folder that is not a demo."""
    present = {entry.name for entry in home.iterdir()} - {_LOCK}
    if present and _STATE not in present:
        raise CollectionError(
            f"{home} is not a demo folder",
            f"it contains {min(present)!r}",
            "Choose a new folder with --home.",
        )
    for path in (documentation(home), collection(home)):
        if path.exists():
            shutil.rmtree(path)
    write_state(home, state)


def documentation(home: Path) -> Path:
    """The folder of the rendered pages."""
    return home / "documentation"


def collection(home: Path) -> Path:
    """The folder of the collection."""
    return home / "collection"
