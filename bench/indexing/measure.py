"""Builds an index in a process of its own, and measures the CPU time of that process."""

from __future__ import annotations

import pickle
import resource
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

from tantivy import Document, Index

from harness.errors import BenchError
from periplus.config import Settings
from periplus.index import build, writer
from periplus.index.documents import document_writer
from periplus.store.collection import Collection
from periplus.text.analyzer import register

HEAP = 256 << 20  # bytes; as the index build has it
THREADS = 2
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Built:
    """The cost and the result of one build."""

    documents: int
    cpu_seconds: float
    seconds: float
    folder: Path


def ours(collection: Collection, *, forward: bool, vectors: bool = False) -> Built:
    """Build the index of a collection, with or without its forward index and word vectors."""
    return _in_a_process(_ours, collection, forward, vectors)


def raw_tantivy(generation: Path, documents: Path) -> float:
    """CPU seconds for adding the same documents to an index with the same schema, by tantivy alone."""
    return _in_a_process(_raw, generation, documents)


def save_documents(collection: Collection, path: Path) -> None:
    """Save the documents as the index build gives them to tantivy."""
    _in_a_process(_save, collection, path)


def text_bytes(documents: Path) -> int:
    """Bytes of the texts of saved documents."""
    fields = (field for row in loaded(documents) for field in row.items())
    return sum(len(text.encode()) for name, text in fields if name.startswith("body"))


def _ours(collection: Collection, forward: bool, vectors: bool) -> Built:
    settings = Settings().index.model_copy(update={"vectors": vectors})
    shutil.rmtree(collection.index, ignore_errors=True)
    with ExitStack() as patches:
        if not forward:
            patches.enter_context(mock.patch.object(writer, "ForwardWriter", _NoForward))
            patches.enter_context(mock.patch.object(writer, "write_vocabulary"))
            patches.enter_context(mock.patch.object(writer, "write_phrases"))
            patches.enter_context(mock.patch.object(build, "require_forward"))
        before = _cpu()
        summary = build.build_index(collection, settings)
        cpu = _cpu() - before
    folder = collection.index / f"gen-{summary.generation:06d}"
    return Built(summary.documents, cpu, summary.seconds, folder)


class _NoForward:
    """Stands for the forward index and does nothing. A mock of the library would keep every document in memory."""

    def __init__(self, *_: object) -> None: ...
    def add(self, *_: object) -> None: ...
    def finish(self) -> None: ...
    def close(self) -> None: ...


def _save(collection: Collection, path: Path) -> None:
    with path.open("wb") as file:

        def recorded(**fields: Any) -> Document:
            pickle.dump(fields, file)
            return Document(**fields)

        with mock.patch.object(document_writer, "Document", recorded):
            build.build_index(collection, Settings().index.model_copy(update={"vectors": False}))


def _raw(generation: Path, documents: Path) -> float:
    schema = Index.open(str(generation / "tantivy")).schema
    folder = documents.with_name("raw")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    rows = list(loaded(documents))
    before = _cpu()
    index = Index(schema, path=str(folder))
    register(index)
    indexer = index.writer(HEAP, THREADS)
    for row in rows:
        indexer.add_document(Document(**row))
    indexer.commit()
    indexer.wait_merging_threads()
    return _cpu() - before


def loaded(path: Path) -> Iterator[dict[str, Any]]:
    """The saved documents: values by field."""
    with path.open("rb") as file:
        while True:
            try:
                yield pickle.load(file)
            except EOFError:
                return


def _cpu() -> float:
    """CPU seconds of this process and its ended children."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _in_a_process(work: Callable[..., _Result], *arguments: Any) -> _Result:
    context = get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_send, args=(theirs, work, arguments))
    process.start()
    theirs.close()
    try:
        result: _Result = ours.recv()
    except EOFError:
        raise BenchError("the build ended with an error, see above") from None
    finally:
        process.join()
    return result


def _send(connection: Connection, work: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    connection.send(work(*arguments))
