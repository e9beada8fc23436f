"""Writes a generation of ranks and publishes it atomically: readers see the old one or the complete new one."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.errors import CollectionLocked
from periplus.store.arrays import new_array, write_array
from periplus.store.checksums import file_digest, with_checksums
from periplus.store.durable import reporting_full_disk, sync_directory, sync_file, write_file
from periplus.store.generations import CURRENT, FORMAT, META, complete_generations, number_of, remove_generation
from periplus.store.ranks import URLS_AT_ONCE, Figures

Item = TypeVar("Item", bound=np.generic)


class RankWriter:
    """An unfinished generation; readers do not see it before `publish`."""

    def __init__(self, folder: Path, number: int) -> None:
        self._folder, self._number = folder, number
        self.path = folder / f"gen-{number}.tmp"
        self.scratch = self.path / "scratch"
        self.scratch.mkdir(parents=True)

    def array(self, name: str, dtype: type[Item], size: int) -> NDArray[Item]:
        """Create an array of the generation that the caller fills in place."""
        return new_array(self.path / f"{name}.npy", dtype, size)

    def save(self, name: str, content: NDArray[Any]) -> None:
        """Write a complete array of the generation."""
        write_array(self.path / f"{name}.npy", content)

    def urls(self, batches: Iterable[pa.Array]) -> None:
        """Write the URLs of the nodes in order, given in arrays of any length."""
        schema = pa.schema([("url", pa.string())])
        with pa.ipc.new_file(self.path / "nodes.arrow", schema) as writer:
            for chunk in _in_batches(batches):
                writer.write_batch(pa.record_batch([chunk], schema=schema))

    def publish(self, figures: Figures, keep: int) -> int:
        """Make this the live generation, durably; removes all but the newest *keep* and those being read."""
        shutil.rmtree(self.scratch)
        files = {path.name: _described(path) for path in sorted(self.path.iterdir())}
        write_file(self.path / META, with_checksums({"format": FORMAT, "figures": asdict(figures), "files": files}))
        final = self.path.with_suffix("")
        self.path.rename(final)
        sync_directory(self._folder)
        write_file(self._folder / CURRENT, final.name.encode() + b"\n")
        for generation in complete_generations(self._folder)[:-keep]:
            remove_generation(generation)
        return self._number


def _in_batches(arrays: Iterable[pa.Array]) -> Iterator[pa.Array]:
    waiting: list[pa.Array] = []
    for array in arrays:
        waiting.append(array)
        while sum(map(len, waiting)) >= URLS_AT_ONCE:
            whole = pa.concat_arrays(waiting)
            yield pa.concat_arrays([whole.slice(0, URLS_AT_ONCE)])
            waiting = [whole.slice(URLS_AT_ONCE)]
    if sum(map(len, waiting)):
        yield pa.concat_arrays(waiting)


def _described(path: Path) -> dict[str, Any]:
    sync_file(path)
    return {"bytes": path.stat().st_size, "digest": file_digest(path).hex()}


@contextmanager
def writing_ranks(folder: Path) -> Iterator[RankWriter]:
    """Start the next generation in *folder*; leftovers of a killed run are removed."""
    folder.mkdir(exist_ok=True)
    with (folder / "rank.lock").open("a") as lock, reporting_full_disk(folder):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CollectionLocked(f"{folder} is in use", "another process is ranking", "Wait for it to end.") from None
        for leftover in folder.glob("gen-*.tmp"):
            shutil.rmtree(leftover)
        draft = RankWriter(folder, max(map(number_of, complete_generations(folder)), default=0) + 1)
        try:
            yield draft
        finally:
            shutil.rmtree(draft.path, ignore_errors=True)
