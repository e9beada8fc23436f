"""Which documents of the index are new or changed since the last check of the standing queries?

A check writes the identities of all documents to a file: 16 bytes a document. The next check compares them with those
of the new generation, so a standing query looks at few documents, however many it matches. A missing or damaged file
makes all documents count as changed; pages that a query knows are still not reported again.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from periplus.errors import DamagedFile
from periplus.index.storage.parts import DOCUMENTS
from periplus.store.durable import write_file

_PREFIX = "documents-"
_NAME = 16  # characters of the id of a generation
_ODD = np.uint64(0x9E3779B97F4A7C15)  # spreads the bits of a fingerprint


class Documents(NamedTuple):
    """The documents of a generation."""

    numbers: NDArray[np.int64]
    pages: NDArray[np.uint64]  # hash of the URL
    contents: NDArray[np.uint64]  # hash of the URL and of everything that the document is made of


class Changed(NamedTuple):
    """The documents that are new or changed."""

    numbers: list[int]
    known_pages: set[int]  # those whose URL was in the index before


def read_documents(generation: Path) -> Documents:
    """The documents of a generation of the index."""
    path = generation / DOCUMENTS
    try:
        table = parquet.read_table(path, columns=["number", "url_id", "fingerprint"])
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    ids = table["url_id"].combine_chunks().cast(pa.binary(16))
    halves = np.frombuffer(ids.buffers()[1], np.uint64, 2 * len(ids), ids.offset * 16).reshape(-1, 2)
    fingerprints = table["fingerprint"].to_numpy().astype(np.uint64)
    pages = halves[:, 0] ^ halves[:, 1]
    return Documents(table["number"].to_numpy(), pages, pages ^ (fingerprints * _ODD))


class CheckedDocuments:
    """The documents of the generations that queries were checked with, as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def changed(self, now: Documents, since: str) -> Changed:
        """The documents that the generation *since* had not; all when its file is missing or damaged."""
        try:
            before = np.load(self._path(since), allow_pickle=False)
            pages, contents = before.astype(np.uint64).reshape(2, -1)
        except (OSError, ValueError, EOFError):
            pages = contents = np.empty(0, np.uint64)
        is_changed = ~np.isin(now.contents, contents)
        numbers = now.numbers[is_changed]
        is_known = np.isin(now.pages[is_changed], pages)
        return Changed(numbers.tolist(), set(numbers[is_known].tolist()))

    def save(self, now: Documents, generation: str) -> None:
        """Keeps the documents of a generation for the next check."""
        if not self._path(generation).exists():
            content = io.BytesIO()
            np.save(content, np.stack([now.pages, now.contents]))
            write_file(self._path(generation), content.getvalue())

    def keep_only(self, generations: Iterable[str]) -> None:
        """Removes the files of other generations."""
        kept = {self._path(generation) for generation in generations}
        for path in set(self._folder.glob(f"{_PREFIX}*.npy")) - kept:
            path.unlink(missing_ok=True)

    def _path(self, generation: str) -> Path:
        return self._folder / f"{_PREFIX}{generation[:_NAME]}.npy"
