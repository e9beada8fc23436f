"""Which columns do segments have, and what do those lack that an older release wrote?

Every segment states its version in its metadata. Columns are only ever added: a reader asks for the columns it needs,
and gets for an older segment what a page without them would have.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from periplus.model import Quality

SKIMMED_VERSION = 1  # what a crawl reads in passing
SCHEMA_VERSION = 2
_ID = pa.binary(16)
_MEDIA = pa.list_(pa.struct([("url", pa.string()), ("words", pa.string())]))

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
        ("images", _MEDIA),
        ("videos", _MEDIA),
        ("published", pa.float64()),  # seconds since the epoch
        ("modified", pa.float64()),
        ("signature", pa.int64()),  # 64 bits, the highest being the sign
        ("quality", pa.struct([(name, pa.float32()) for name in Quality._fields])),
        ("problem", pa.string()),  # a reason why nobody is shown the page
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
        ("fetched_at", pa.float64()),  # of the source: the latest version of a page is the one that counts
    ]
)


SKIMMED_PAGES = pa.schema(list(PAGES)[: PAGES.get_field_index("main")])


def described(kind: str, schema: pa.Schema, version: int) -> pa.Schema:
    """The schema with the kind and version of the segment in its metadata."""
    return schema.with_metadata({"periplus": json.dumps({"kind": kind, "version": version})})


def is_skimmed(path: Path) -> bool:
    """Whether the pages of a segment have yet to be read closely."""
    stated = schema_version(path)
    return stated is not None and stated[1] < SCHEMA_VERSION


def schema_version(path: Path) -> tuple[str, int] | None:
    """The kind and version a segment states about itself."""
    try:
        stated = json.loads((parquet.read_schema(path).metadata or {})[b"periplus"])
        return str(stated["kind"]), int(stated["version"])
    except (KeyError, ValueError):
        return None


def read_pages(path: Path, columns: Sequence[str], at_once: int) -> Iterator[pa.RecordBatch]:
    """The rows of a segment in order, some at a time; columns that it does not have are empty."""
    with parquet.ParquetFile(path) as file:
        there = set(file.schema_arrow.names)
        for batch in file.iter_batches(at_once, columns=[name for name in columns if name in there]):
            arrays = [
                batch.column(name) if name in there else _empty(PAGES.field(name).type, len(batch)) for name in columns
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema([PAGES.field(name) for name in columns]))


def _empty(kind: pa.DataType, rows: int) -> pa.Array:
    """No list is an empty list; of other things there is none."""
    return pa.array([[]] * rows, kind) if pa.types.is_list(kind) else pa.nulls(rows, kind)


def main_text(text: str, main: Sequence[int]) -> str:
    """The main text of a row, or all of its text when nothing stands out."""
    pieces = [text[start:end] for start, end in zip(main[::2], main[1::2], strict=True)]
    return "\n".join(pieces) if pieces else text
