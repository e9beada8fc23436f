"""Writes a generation of ranks and publishes it atomically: readers see the old one or the complete new one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from periplus.store.arrays import new_array, write_array
from periplus.store.generations import RANK_KIND, Generations, number_of
from periplus.store.ranks import URLS_AT_ONCE, Figures

Item = TypeVar("Item", bound=np.generic)


class RankWriter:
    """An unfinished generation; readers do not see it before `publish`."""

    def __init__(self, generations: Generations, path: Path) -> None:
        self._generations, self.path = generations, path
        self.scratch = path / "scratch"
        self.scratch.mkdir()

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
        return number_of(self._generations.publish(self.path, {"figures": asdict(figures)}, keep))


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


@contextmanager
def writing_ranks(folder: Path) -> Iterator[RankWriter]:
    """Start the next generation in *folder*; leftovers of a killed run are removed."""
    generations = Generations(folder, RANK_KIND)
    with generations.writing() as path:
        yield RankWriter(generations, path)
