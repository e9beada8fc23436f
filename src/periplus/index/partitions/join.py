"""Joins the partitions of an index into one generation.

Segments of tantivy are linked, records of the page store are copied as they are, and words get their final numbers. The
files are those that one process would have written, except for the division into segments of tantivy.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from tantivy import Index

from periplus.config import Indexing
from periplus.index.documents.document_writer import Figures, save_figures
from periplus.index.documents.media import FOLDER as MEDIA
from periplus.index.documents.schema import HOSTS, NUMBER, QUALITIES, RANKS
from periplus.index.forward.forward_writer import ForwardWriter
from periplus.index.partitions.graft import graft
from periplus.index.partitions.words import MergedTable, PartitionWords
from periplus.index.storage.arrays import load_array
from periplus.index.storage.pagestore import merge_page_stores
from periplus.index.storage.parts import part_folder
from periplus.index.storage.shards import NUMBERS, document_folders
from periplus.index.update import Base, link_tantivy, take_over_parts
from periplus.index.writer import continued_words, in_order, write_common
from periplus.store.arrays import write_array
from periplus.text.analyzer import register

Value = TypeVar("Value", bound=np.generic)
_HEAP = 64 << 20  # bytes; for deletions and merges


def join_partitions(folder: Path, partitions: Sequence[Path], settings: Indexing, base: Base | None) -> list[int]:
    """Write a generation from its partitions, in the order of their documents; returns the images and videos by shard.

    *base*: the generation that an update continues.
    """
    folders = document_folders(folder, settings.shards)
    pieces = [document_folders(partition, settings.shards) for partition in partitions]
    for shard, target in enumerate(folders):
        _join_documents(target, [piece[shard] for piece in pieces], settings, base)
    ranks = [_concatenated([piece[shard] for piece in pieces], RANKS, np.float32) for shard in range(len(folders))]
    numbers = [load_array(target / NUMBERS, np.uint32) for target in folders] if settings.shards > 1 else []
    _join_words(folder, partitions, settings, base)
    if base is not None:
        take_over_parts(base, folder, len(ranks[0]))
    write_common(folder, in_order(ranks, numbers), base, vectors=settings.vectors)
    return [_documents_of(target / MEDIA) for target in folders] if settings.media else [0] * len(folders)


def _join_documents(folder: Path, pieces: Sequence[Path], settings: Indexing, base: Base | None) -> None:
    """Write what belongs to documents, of a generation or one of its shards."""
    folder.mkdir(exist_ok=True)
    _join_tantivy(pieces, folder, "tantivy", base)
    if settings.media:
        _join_tantivy(pieces, folder, MEDIA, base)
    figures = Figures(
        _concatenated(pieces, RANKS, np.float32),
        _concatenated(pieces, QUALITIES, np.float32),
        _concatenated(pieces, HOSTS, np.uint64),
    )
    save_figures(folder, figures, base)
    part = part_folder(folder, base.first if base else 0)
    part.mkdir(parents=True, exist_ok=True)
    merge_page_stores(pieces, part, np.ones(len(figures.ranks), bool))
    if settings.shards > 1:
        write_array(folder / NUMBERS, _concatenated(pieces, NUMBERS, np.uint32))


def _documents_of(path: Path) -> int:
    return int(Index.open(str(path)).searcher().num_docs)


def _join_tantivy(partitions: Sequence[Path], folder: Path, name: str, base: Base | None) -> None:
    target = folder / name
    if base is not None:
        link_tantivy(base.folder / name, target)
        _commit(target, base.removed.tolist())
    graft([partition / name for partition in partitions], target)
    _commit(target, [])


def _commit(path: Path, removed: Sequence[int]) -> None:
    """Remove documents from a tantivy index, and let it merge segments of similar sizes, if there are too many."""
    index = Index.open(str(path))
    register(index)
    writer = index.writer(_HEAP, 1)
    for number in removed:
        writer.delete_documents_by_term(NUMBER, number)
    writer.commit()
    writer.wait_merging_threads()


def _join_words(folder: Path, partitions: Sequence[Path], settings: Indexing, base: Base | None) -> None:
    """Write the forward index, with the words in the order in which one process would have found them."""
    words, shards = list(map(PartitionWords, partitions)), settings.shards
    table = MergedTable(words)
    folders = document_folders(folder, shards) if shards > 1 else []
    writer = ForwardWriter(folder, settings.forward_words, continued_words(base), folders)
    try:
        for path, partition, numbers in zip(partitions, words, table.numbers, strict=True):
            chunks = map(numbers.take, partition.chunks())
            if shards == 1:
                for chunk in chunks:
                    writer.append(chunk.tobytes(), b"")
                writer.append(b"", partition.sizes.tobytes())
            else:
                _append_to_shards(writer, partition, chunks, _owners(document_folders(path, shards)))
        writer.finish(table)
    finally:
        writer.close()


def _append_to_shards(
    writer: ForwardWriter, partition: PartitionWords, chunks: Iterable[NDArray[np.uint32]], owners: NDArray[np.uint8]
) -> None:
    """Append each document to its shard; *owners*: the shard of every document."""
    of_words, done = np.repeat(owners, partition.sizes[:, 0].sum(axis=1, dtype=np.int64)), 0
    for chunk in chunks:
        here = of_words[done : done + len(chunk)]
        for shard in np.unique(here).tolist():
            writer.append(chunk[here == shard].tobytes(), b"", shard)
        done += len(chunk)
    for shard in np.unique(owners).tolist():
        writer.append(b"", partition.sizes[owners == shard].tobytes(), shard)


def _owners(pieces: Sequence[Path]) -> NDArray[np.uint8]:
    """The shard of every document of a partition, in the order of the documents."""
    numbers = [load_array(piece / NUMBERS, np.uint32) for piece in pieces]
    shards = np.repeat(np.arange(len(pieces), dtype=np.uint8), list(map(len, numbers)))
    owners: NDArray[np.uint8] = shards[np.argsort(np.concatenate(numbers))]
    return owners


def _concatenated(partitions: Sequence[Path], name: str, kind: type[Value]) -> NDArray[Value]:
    return np.concatenate([load_array(partition / name, kind) for partition in partitions])
