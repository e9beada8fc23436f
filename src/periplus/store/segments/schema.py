"""Defines the columns of segments, and reads segments of all versions.

Every segment states its version in its metadata. Columns, and fields of their structs, are only ever added: what an
older segment lacks is read as empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from periplus.model import Quality

SKIMMED_VERSION = 1  # segments of a crawl, with the quickly extracted fields
SCHEMA_VERSION = 3  # segments of `periplus reparse`
_ID = pa.binary(16)
_MEDIA = pa.list_(pa.struct([("url", pa.string()), ("words", pa.string()), ("context", pa.string())]))

PAGES = pa.schema(
    [
        ("url_id", _ID),
        ("url", pa.string()),
        ("host", pa.string()),
        ("fetched_at", pa.float64()),  # seconds since the epoch
        ("status", pa.int16()),
        ("mime", pa.string()),
        ("content_id", pa.binary(32)),  # SHA-256 of the payload
        ("title", pa.string()),
        ("description", pa.string()),
        ("keywords", pa.string()),
        ("headings", pa.list_(pa.string())),
        ("text", pa.string()),
        ("language", pa.string()),  # version 1: as the page declares it
        ("canonical", pa.string()),
        ("noindex", pa.bool_()),
        ("last_modified", pa.string()),
        ("archive", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        # since version 2
        ("main", pa.list_(pa.int32())),  # start, end, start, end ... of the main text in the text, in characters
        ("language_certainty", pa.float32()),
        ("categories", pa.list_(pa.string())),
        ("images", _MEDIA),  # the context since version 3
        ("videos", _MEDIA),
        ("published", pa.float64()),  # seconds since the epoch
        ("modified", pa.float64()),
        ("signature", pa.int64()),  # 64 bits, the highest being the sign
        ("quality", pa.struct([(name, pa.float32()) for name in Quality._fields])),
        ("problem", pa.string()),  # the reason why the page is not indexed
        # since version 3
        ("listed", pa.list_(pa.struct([("url", pa.string()), ("published", pa.float64())]))),  # by a feed
    ]
)
LINKS = pa.schema(
    [
        ("source_id", _ID),
        ("target_id", _ID),
        ("source_host", pa.string()),
        ("target_host", pa.string()),
        ("target", pa.string()),
        ("anchor", pa.string()),
        ("nofollow", pa.bool_()),
        ("fetched_at", pa.float64()),  # of the source page: only its latest version counts
    ]
)


SKIMMED_PAGES = pa.schema(list(PAGES)[: PAGES.get_field_index("main")])


def described(kind: str, schema: pa.Schema, version: int) -> pa.Schema:
    """Return the schema with kind and version of the segment in its metadata."""
    return schema.with_metadata({"periplus": json.dumps({"kind": kind, "version": version})})


def is_skimmed(path: Path) -> bool:
    """Whether the pages of a segment have yet to be parsed completely by a reparse."""
    stated = schema_version(path)
    return stated is not None and stated[1] < SCHEMA_VERSION


def schema_version(path: Path) -> tuple[str, int] | None:
    """The kind and version in the metadata of a segment, or None."""
    try:
        stated = json.loads((parquet.read_schema(path).metadata or {})[b"periplus"])
        return str(stated["kind"]), int(stated["version"])
    except (KeyError, ValueError):
        return None


def read_pages(path: Path, columns: Sequence[str], at_once: int) -> Iterator[pa.RecordBatch]:
    """Stream the rows of a segment in order, *at_once* per batch; missing columns are empty."""
    for _, batch in read_some_pages(path, columns, at_once, lambda _start, _end: True):
        yield batch


def read_some_pages(
    path: Path, columns: Sequence[str], at_once: int, is_wanted: Callable[[int, int], bool]
) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Stream the row groups that are wanted, in batches, each with the number of its first row in the segment.

    *is_wanted* is called with the first row of a row group and the row after its last.
    """
    with parquet.ParquetFile(path) as file:
        present, start = set(file.schema_arrow.names), 0
        for group in range(file.num_row_groups):
            end = start + file.metadata.row_group(group).num_rows
            if is_wanted(start, end):
                for batch in file.iter_batches(at_once, [group], [name for name in columns if name in present]):
                    yield start, _with_all_columns(batch, columns, present)
                    start += len(batch)
            start = end


def _with_all_columns(batch: pa.RecordBatch, columns: Sequence[str], present: set[str]) -> pa.RecordBatch:
    arrays = [batch.column(name) if name in present else _empty(PAGES.field(name).type, len(batch)) for name in columns]
    # Arrow adds the fields that the structs of an older segment lack, as nulls.
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema([PAGES.field(name) for name in columns]))


def _empty(kind: pa.DataType, rows: int) -> pa.Array:
    """Values for a missing column: empty lists, or nulls for other types."""
    return pa.array([[]] * rows, kind) if pa.types.is_list(kind) else pa.nulls(rows, kind)


def main_text(text: str, main: Sequence[int]) -> str:
    """The main text of a row, or all its text when no main text was found."""
    pieces = [text[start:end] for start, end in zip(main[::2], main[1::2], strict=True)]
    return "\n".join(pieces) if pieces else text
