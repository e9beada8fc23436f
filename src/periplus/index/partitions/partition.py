"""Builds one partition of an index: the documents of a range of numbers. It runs in a process of its own, anywhere.

The input is a folder: the planned rows (`rows` in plan.sql), and what the hosts of these rows repeat. The output is a
folder with a tantivy index, one of images and videos, a page store, words and arrays.
"""

from __future__ import annotations

import shutil
from collections.abc import Container, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from pyarrow import parquet

from periplus.config import Indexing
from periplus.garbage import rare_garbage_collection
from periplus.index.documents.document_reader import ROWS_AT_ONCE, DocumentReader, Segment
from periplus.index.documents.media import read_furniture, write_furniture
from periplus.index.documents.sites import read_sites, write_sites
from periplus.index.documents.templates import Templates, read_templates, write_templates
from periplus.index.partitions.words import PartitionWordWriter
from periplus.index.planning.plan import Plan
from periplus.index.writer import DocumentWriters, Written
from periplus.store.database.sql_files import read_statements
from periplus.store.duckdb_session import connect, plain_errors
from periplus.store.durable import reporting_full_disk
from periplus.store.fleet_files.job_staging import JobStaging, TaskOutput
from periplus.store.manifest import SealedSegment

_ROWS = "rows.parquet"
_OBJECTS_BETWEEN_COLLECTIONS = 20_000
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class PartitionTask:
    """What the task of one partition must know."""

    name: str
    firsts: tuple[int, ...]  # by shard: number of its first document there
    segments: tuple[SealedSegment, ...]  # those of pages, and those of their links that are not damaged
    settings: Indexing
    languages: tuple[str, ...]  # with fields in the index
    staging: JobStaging


class PartitionOutput(NamedTuple):
    """What a task has written."""

    files: TaskOutput
    written: Written


def write_input(folder: Path, rows: pa.Table, plan: Plan) -> None:
    """Write the input of a partition into a folder."""
    hosts = set(rows["host"].unique().to_pylist())
    names = pa.array([Path(segment).name for segment in rows["segment"].to_pylist()], pa.string())
    rows = rows.set_column(rows.schema.get_field_index("segment"), "segment", names)
    parquet.write_table(rows, folder / _ROWS, compression="zstd")
    write_sites(folder, [site for host, site in plan.sites.items() if host in hosts])
    write_templates(folder, _of_hosts(plan.template_lines.lines, hosts))
    write_furniture(folder, _of_hosts(plan.furniture, hosts))


def build_partition(task: PartitionTask) -> PartitionOutput:
    """Write the documents of a partition, and publish the files for the driver."""
    with (
        rare_garbage_collection(_OBJECTS_BETWEEN_COLLECTIONS),
        task.staging.task_folders(task.name) as folders,
        task.staging.collection_with(task.segments) as collection,
        reporting_full_disk(folders.outputs),
    ):
        written = _write(task, folders.inputs, folders.outputs, collection.segments)
        return PartitionOutput(task.staging.publish_output(folders), written)


def _write(task: PartitionTask, inputs: Path, outputs: Path, segments: Path) -> Written:
    """Write all files of the partition."""
    with ExitStack() as undo:
        words = PartitionWordWriter(outputs, task.settings.forward_words)
        undo.callback(words.close)
        furniture = read_furniture(inputs)
        writers = DocumentWriters(outputs, task.settings, task.languages, furniture=furniture, firsts=task.firsts)
        undo.callback(writers.close)
        for row in _rows(task, inputs, segments, outputs / "spill"):
            writers.add(row)
            words.add(row)
        words.finish()
        return writers.finish()


def _rows(task: PartitionTask, inputs: Path, folder: Path, spill: Path) -> Iterator[Mapping[str, Any]]:
    """Every document of the partition, as the writers take it."""
    by_name = {segment.name: folder / segment.name for segment in task.segments}
    segments = {
        name: Segment(path, by_name.get(name.replace("pages-", "links-", 1)))
        for name, path in by_name.items()
        if name.startswith("pages-")
    }
    with (
        plain_errors("pages", "index.memory_mb"),
        closing(connect(spill, task.settings.memory_mb << 20, 1)) as database,
    ):
        links = read_statements("periplus.index.planning", "plan.sql")["links"]
        reader = DocumentReader(database, links, segments, Templates((), read_templates(inputs)), read_sites(inputs))
        with parquet.ParquetFile(inputs / _ROWS) as planned:
            batches = planned.iter_batches(ROWS_AT_ONCE)
            yield from reader.rows(row for batch in batches for row in batch.to_pylist())
    shutil.rmtree(spill, ignore_errors=True)


def _of_hosts(found: Mapping[str, Value], hosts: Container[str]) -> dict[str, Value]:
    return {host: value for host, value in found.items() if host in hosts}
