"""Runs named blocks of SQL on Spark: each creates the table or stream of its name.

Segments are read by Python tasks through Arrow, from a folder or an object store. Tables are cached by the executors;
those of an executor that dies are computed again. Results reach the driver as Arrow batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet
from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from periplus.errors import DamagedFile
from periplus.spark.failures import plain_errors
from periplus.store.checksums import StoredFile
from periplus.store.fleet_files.task_files import SegmentFiles

_ROWS_AT_ONCE = 1 << 16
_COLLECTED_BYTES = 128 << 20  # larger results are streamed partition by partition, which takes a job for each
_TASK_BYTES = 64 << 20  # of the segments; the amount of input for which a join gets another task
Batches = Iterator[pa.RecordBatch]
_LEVEL = StorageLevel.MEMORY_AND_DISK


class SparkTables:
    """The tables of one job."""

    def __init__(self, session: SparkSession, statements: Mapping[str, str], segments: SegmentFiles) -> None:
        self._session, self._statements, self._segments = session, statements, segments
        self._cached: dict[str, DataFrame] = {}
        self._sizes: dict[str, int] = {}
        self._bytes = 0

    def read(self, name: str, files: Sequence[StoredFile], schema: pa.Schema) -> None:
        """Create a table of Parquet files, each read by one task."""
        plain = _without_fixed_sizes(schema)
        types = _spark_schema(plain)
        self._bytes += sum(file.size for file in files)
        self._choose_partitions()
        with plain_errors():
            places = self._session.sparkContext.parallelize(_places(files), max(len(files), 1))
            rows = self._session.createDataFrame(places, "path string, size long, digest binary")
            self._keep(name, rows.mapInArrow(_reading(self._segments, plain), types))

    def take(self, name: str, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Create a table from Arrow rows."""
        table = rows if isinstance(rows, pa.Table) else rows.read_all()
        plain = _without_fixed_sizes(table.schema)
        with plain_errors():
            frame = self._session.createDataFrame(table.cast(plain), _spark_schema(plain))
            self._keep(name, frame, table.num_rows)

    def view(self, name: str, block: str) -> None:
        """Create a view of the result of a block."""
        with plain_errors():
            self._session.sql(self._statements[block]).createOrReplaceTempView(name)

    def make(self, name: str, block: str = "", **numbers: int) -> None:
        """Create a table from the result of a block; the block has the name of the table by default."""
        with plain_errors():
            self._keep(name, self._truncate_lineage(self._query(block or name, numbers)))

    def rename(self, name: str, new: str) -> None:
        """Rename a table; an existing table of the new name is dropped."""
        self.drop(new)
        self._cached[new], size = self._cached.pop(name), self._sizes.pop(name, None)
        self._cached[new].createOrReplaceTempView(new)
        self._session.catalog.dropTempView(name)
        if size is not None:
            self._sizes[new] = size

    def drop(self, *names: str) -> None:
        """Drop tables."""
        for name in names:
            self._session.catalog.dropTempView(name)
            self._sizes.pop(name, None)
            if (frame := self._cached.pop(name, None)) is not None:
                frame.unpersist()

    def size(self, name: str) -> int:
        """The number of rows of a table."""
        if name not in self._sizes:
            with plain_errors():
                self._sizes[name] = self._session.table(name).count()
        return self._sizes[name]

    def stream(self, block: str, **numbers: int) -> Iterator[pa.RecordBatch]:
        """Stream the result of a block in batches."""
        with plain_errors():
            packed = self._query(block, numbers).mapInArrow(_packed, "rows binary").persist(_LEVEL)
            try:
                # The sum makes all partitions at the same time; the streaming below reads one after the other.
                total = packed.selectExpr("sum(length(rows))").collect()[0][0] or 0
                rows = packed.collect() if total <= _COLLECTED_BYTES else packed.toLocalIterator(True)
                for (data,) in rows:
                    yield from pa.ipc.open_stream(data)
            finally:
                packed.unpersist()

    def close(self) -> None:
        """Drop everything."""
        self.drop(*self._cached)

    def _query(self, block: str, numbers: dict[str, int]) -> DataFrame:
        text = self._statements[block]
        return self._session.sql(text.format(**numbers) if numbers else text)

    def _keep(self, name: str, frame: DataFrame, size: int | None = None) -> None:
        """Cache the rows, and give them a name; computed at once, so that later joins know the size."""
        cached = frame.persist(_LEVEL)
        self._sizes[name] = cached.count() if size is None else size
        self._cached[name] = cached
        cached.createOrReplaceTempView(name)

    def _truncate_lineage(self, frame: DataFrame) -> DataFrame:
        """The same rows as a query that does not contain the queries of its tables.

        Planning would take longer with every table. A checkpoint does the same, but its rows are lost with their
        executor, or need a file system that all executors share. Here Spark still knows how to compute them again.
        """
        session = self._session._jsparkSession
        rows = session.internalCreateDataFrame(frame._jdf.queryExecution().toRdd(), frame._jdf.schema(), False)
        return DataFrame(rows, self._session)

    def _choose_partitions(self) -> None:
        """Enough tasks for joins, so that the rows of each fit into memory."""
        least = 2 * self._session.sparkContext.defaultParallelism
        self._session.conf.set("spark.sql.shuffle.partitions", max(least, self._bytes // _TASK_BYTES))


def _places(files: Sequence[StoredFile]) -> list[tuple[str, int, bytes]]:
    return [(str(file.path), file.size, file.digest) for file in files]


def _reading(
    segments: SegmentFiles, schema: pa.Schema
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function of a task that reads segments."""

    def read(batches: Batches) -> Batches:
        for batch in batches:
            for place in batch.to_pylist():
                with segments.opened(StoredFile(Path(place["path"]), place["size"], place["digest"])) as path:
                    yield from _rows(path, schema)

    return read


def _rows(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(_ROWS_AT_ONCE, columns=schema.names):
                yield batch.select(schema.names).cast(schema)
    except (pa.ArrowException, OSError) as error:
        raise DamagedFile(f"{path} cannot be read", str(error)) from error


def _packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """One row per batch: the batch as a stream of Arrow."""
    for batch in batches:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield pa.record_batch([pa.array([sink.getvalue().to_pybytes()], pa.binary())], names=["rows"])


def _without_fixed_sizes(schema: pa.Schema) -> pa.Schema:
    """The schema with binary columns of any length: Spark has no others."""
    return pa.schema(
        [field.with_type(pa.binary()) if pa.types.is_fixed_size_binary(field.type) else field for field in schema]
    )


def _spark_schema(schema: pa.Schema) -> StructType:
    return from_arrow_schema(schema)
