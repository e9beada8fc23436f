"""Which generation of the index is live, and how does a new one take its place?

A generation is built in a temporary folder, verified, fsynced, renamed, and only then named by CURRENT. It is never
written again. Readers hold the generation they opened; the last ones stay on disk for roll-back.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from periplus.errors import DamagedFile, NoIndex
from periplus.store.durable import move_into_place, sync_directory, sync_file, write_file

FORMAT = 1
_KEPT = 3
_META = "meta.json"


class Generations:
    """The folder `index/` of a collection."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def current(self) -> Path:
        """The folder of the live generation."""
        try:
            name = (self._folder / "CURRENT").read_text(encoding="ascii").strip()
        except FileNotFoundError:
            raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.") from None
        except (OSError, UnicodeDecodeError) as error:
            raise DamagedFile(f"{self._folder / 'CURRENT'} cannot be read", str(error)) from error
        path = self._folder / name
        if not name.startswith("gen-") or not path.is_dir():
            raise DamagedFile(f"{self._folder / 'CURRENT'} is damaged", f"it names {name!r}, which is not there")
        return path

    def begin(self) -> Path:
        """A fresh folder for the next generation; what a killed build left behind is removed."""
        self._folder.mkdir(exist_ok=True)
        for leftover in self._folder.glob("*.tmp"):
            shutil.rmtree(leftover)
        path = self._folder / f"{_name(self.newest() + 1)}.tmp"
        path.mkdir()
        return path

    def newest(self) -> int:
        """The number of the newest complete generation; 0 before the first."""
        numbers = [number_of(path) for path in self._folder.glob("gen-*") if path.suffix != ".tmp"]
        return max(numbers, default=0)

    def publish(self, building: Path, facts: dict[str, Any]) -> Path:
        """Make a finished folder the live generation."""
        files = {str(path.relative_to(building)): _fingerprint(path) for path in _files(building)}
        (building / _META).write_text(json.dumps({"format": FORMAT, **facts, "files": files}), encoding="utf-8")
        for path in _files(building):
            sync_file(path)
        for folder in (*(path for path in building.rglob("*") if path.is_dir()), building):
            sync_directory(folder)
        final = building.with_suffix("")
        move_into_place(building, final)
        write_file(self._folder / "CURRENT", final.name.encode() + b"\n")
        self._forget_old(final)
        return final

    def _forget_old(self, live: Path) -> None:
        old = sorted(path for path in self._folder.glob("gen-*") if path != live)
        for path in old[: max(len(old) - _KEPT + 1, 0)]:
            shutil.rmtree(path)


def facts_of(generation: Path) -> dict[str, Any]:
    """What a generation states about itself."""
    path = generation / _META
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{path} cannot be read", str(error), "`periplus index` builds a new one.") from error
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        raise DamagedFile(
            f"{path} is damaged", f"it does not state format {FORMAT}", "`periplus index` builds a new one."
        )
    return facts


def problems_of(generation: Path) -> Iterator[tuple[str, str]]:
    """Files of a generation that are not what was published: name and what is wrong."""
    try:
        stated = facts_of(generation)["files"]
    except DamagedFile as error:
        yield _META, error.why
        return
    for name, (size, digest) in stated.items():
        path = generation / name
        if not path.exists():
            yield name, "the file is missing"
        elif path.stat().st_size != size:
            yield name, f"{path.stat().st_size} bytes instead of {size}"
        elif _fingerprint(path)[1] != digest:
            yield name, "its content is not what was published"


def number_of(generation: Path) -> int:
    """The number in the name of a generation."""
    return int(generation.name.removeprefix("gen-").removesuffix(".tmp"))


def _name(number: int) -> str:
    return f"gen-{number:06d}"


def _files(folder: Path) -> list[Path]:
    # Lock files belong to whoever has the index open, not to the generation.
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock")


def _fingerprint(path: Path) -> tuple[int, str]:
    with path.open("rb") as handle:
        return path.stat().st_size, hashlib.file_digest(handle, "sha256").hexdigest()
