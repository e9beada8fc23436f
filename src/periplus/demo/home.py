"""What did an earlier demo leave in this folder, and does it still fit this machine?

It holds the pages that were rendered, a collection like any other, and a note of what both were made of: addresses
carry the port of the documentation server, and another Python writes other pages.
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

_NOTE = "demo.json"
_LOCK = "demo.lock"


@dataclass(frozen=True, slots=True)
class DemoNote:
    """What a demo was made of."""

    edition: str
    port: int
    ready: bool  # whether its index was published


def edition_of(sites: list[Site]) -> str:
    """Names what would be served: when it changes, the pages have to be made anew."""
    packages = ", ".join(f"{site.title} {site.pages}" for site in sites)
    return f"periplus {__version__}, Python {platform.python_version()}, {packages}"


@contextmanager
def held(home: Path) -> Iterator[None]:
    """Keep a second demo out of the folder."""
    try:
        home.mkdir(parents=True, exist_ok=True)
        handle = (home / _LOCK).open("a+", encoding="ascii")
    except OSError as error:
        raise CollectionError(f"{home} cannot be used", error.strerror or "", "Name another with --home.") from error
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            why = f"process {handle.read(20).strip() or 'unknown'} is showing it"
            raise CollectionLocked(
                f"the demo in {home} is running already", why, "Use that one, or name another folder with --home."
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def read_note(home: Path) -> DemoNote | None:
    """What the folder says about itself; nothing when no demo was made there."""
    try:
        return DemoNote(**json.loads((home / _NOTE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def write_note(home: Path, note: DemoNote) -> None:
    """State what the folder holds."""
    write_file(home / _NOTE, json.dumps(asdict(note)).encode() + b"\n")


def begin_anew(home: Path, note: DemoNote) -> None:
    """Remove what an earlier demo made; a folder that holds anything else is left alone."""
    present = {entry.name for entry in home.iterdir()} - {_LOCK}
    if present and _NOTE not in present:
        raise CollectionError(
            f"{home} holds something else than a demo",
            f"for example {min(present)!r}",
            "Name a new folder with --home.",
        )
    for path in (documentation(home), collection(home)):
        if path.exists():
            shutil.rmtree(path)
    write_note(home, note)


def documentation(home: Path) -> Path:
    """Where the rendered pages are."""
    return home / "documentation"


def collection(home: Path) -> Path:
    """Where the collection is."""
    return home / "collection"
