"""Writes one generation of the index: its documents, and the files that all of them share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import repeat
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.config import Indexing
from periplus.index.documents.document_writer import DocumentWriter, save_figures
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.forward.forward_writer import Continued, ForwardWriter
from periplus.index.storage.shards import NUMBERS, document_folders, shard_of
from periplus.index.suggest.phrases import FOLDER as PHRASES
from periplus.index.suggest.phrases import write_phrases
from periplus.index.suggest.vocabulary import FOLDER as VOCABULARY
from periplus.index.suggest.vocabulary import write_vocabulary
from periplus.index.update import Base, link_folder, take_over_parts
from periplus.index.vectors.document_vectors import write_document_vectors
from periplus.index.vectors.word_vectors import keep_vectors, write_vectors
from periplus.store.arrays import write_array


class Written(NamedTuple):
    """What a build has written; a generation that is not divided counts as one shard."""

    by_shard: list[int]  # new documents
    media: list[int]  # images and videos by shard, with those of the base

    @property
    def documents(self) -> int:
        """The number of new documents."""
        return sum(self.by_shard)


class DocumentWriters:
    """Writes the documents of a generation or a partition, each in the folder of its shard, or all in one folder."""

    def __init__(
        self,
        folder: Path,
        settings: Indexing,
        languages: Iterable[str],
        base: Base | None = None,
        furniture: Mapping[str, frozenset[str]] = MappingProxyType({}),  # it is frozen
        *,
        firsts: Sequence[int] | None = None,
    ) -> None:
        """*firsts*: write a partition that begins in each shard with a number. Shards have no *base*."""
        self._base = base
        self._folders = document_folders(folder, settings.shards)
        self.shard_folders = self._folders if settings.shards > 1 else []
        for shard in self.shard_folders:
            shard.mkdir()
        self._writers = [
            DocumentWriter(one, settings, languages, base, furniture, partition=first, shards=len(self._folders))
            for one, first in zip(self._folders, firsts or repeat(None), strict=False)
        ]
        self._numbers: list[list[int]] = [[] for _ in self.shard_folders]  # in the whole collection

    def add(self, row: Mapping[str, Any]) -> int:
        """Add the document with the next number; returns its shard. *row* is one of `rows` in plan.sql."""
        if not self.shard_folders:
            self._writers[0].add(row)
            return 0
        shard = shard_of(row["url_id"], len(self._writers))
        self._numbers[shard].append(row["number"])
        self._writers[shard].add({**row, "number": self._writers[shard].next_number})
        return shard

    def finish(self) -> Written:
        """Complete the files of all documents."""
        for folder, writer in zip(self._folders, self._writers, strict=True):
            writer.finish()
            save_figures(folder, writer.figures, self._base)
        for folder, numbers in zip(self.shard_folders, self._numbers, strict=True):
            write_array(folder / NUMBERS, np.array(numbers, np.uint32))
        return Written([len(writer.ranks) for writer in self._writers], [writer.media for writer in self._writers])

    @property
    def ranks(self) -> NDArray[np.float32]:
        """The ranks of all documents of a generation without its base, in the order of their numbers."""
        return in_order([np.array(writer.ranks, np.float32) for writer in self._writers], self._numbers)

    def close(self) -> None:
        """Close the files."""
        with ExitStack() as closing:
            for writer in self._writers:
                closing.callback(writer.close)


class IndexWriter:
    """Writes one generation: its documents, in one folder or in shards, and the files that all documents share."""

    def __init__(
        self,
        folder: Path,
        settings: Indexing,
        languages: Iterable[str],
        base: Base | None = None,
        furniture: Mapping[str, frozenset[str]] = MappingProxyType({}),  # it is frozen
    ) -> None:
        """*languages*: those of all pages, as `language_of` names them; *base*: the generation that is continued.

        *furniture*: by host, the URLs of images and videos that are not indexed. A sharded generation has no base.
        """
        self._folder, self._base, self._vectors = folder, base, settings.vectors
        self._documents = DocumentWriters(folder, settings, languages, base, furniture)
        shards = self._documents.shard_folders
        self._forward = ForwardWriter(folder, settings.forward_words, continued_words(base), shards)

    def __enter__(self) -> IndexWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with ExitStack() as closing:
            closing.callback(self._documents.close)
            closing.callback(self._forward.close)

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the document with the next number; *row* is one of `rows` in plan.sql."""
        self._forward.add(row, self._documents.add(row))

    def finish(self) -> Written:
        """Complete all files."""
        written = self._documents.finish()
        self._forward.finish()
        if self._base is not None:
            take_over_parts(self._base, self._folder, written.documents)
        write_common(self._folder, self._documents.ranks, self._base, vectors=self._vectors)
        return written


def in_order(
    ranks: Sequence[NDArray[np.float32]], numbers: Sequence[Sequence[int] | NDArray[np.uint32]]
) -> NDArray[np.float32]:
    """The ranks of the documents of all shards, in the order of their numbers; without numbers they have one order."""
    joined = np.concatenate(ranks)
    if not numbers:
        return joined
    ordered = np.empty_like(joined)
    ordered[np.concatenate(numbers).astype(np.intp)] = joined
    return ordered


def write_common(folder: Path, ranks: NDArray[np.float32], base: Base | None, *, vectors: bool) -> None:
    """Write the vectors, and the words and phrases for spelling and completion; an update keeps those of its base.

    The folder has the new documents already; *ranks*: theirs.
    """
    if vectors and base is None:
        write_vectors(folder, ranks)
    elif vectors and base is not None:
        keep_vectors(base.folder, folder, len(ForwardIndex(folder).lexicon))
    if vectors:
        write_document_vectors(folder)
    if base is not None:
        for name in (VOCABULARY, PHRASES):
            link_folder(base.folder / name, folder / name)
        return
    write_vocabulary(folder)
    write_phrases(folder, ranks)


def continued_words(base: Base | None) -> Continued | None:
    """The forward index that an update continues."""
    return None if base is None else Continued(ForwardIndex(base.folder), base.is_kept, base.removed)
