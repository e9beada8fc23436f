"""Reads damaged archive files: finds the intact records, and the bytes between them that no reader understands.

`fill` replaces such bytes by one valid record of the same length, so that all later offsets stay right.
"""

from __future__ import annotations

import io
import mmap
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from fastwarc import ArchiveIterator, WarcRecordType
from isal import isal_zlib

from periplus.errors import DamagedFile
from periplus.model import ArchivePosition
from periplus.store.archive.warc import filler
from periplus.store.archive.warc_files import Record, read_record
from periplus.store.durable import reporting_full_disk

_GZIP = 31  # zlib's window bits for "with a gzip header"
_MEMBER_START = b"\x1f\x8b\x08"
_RECORD_START = b"WARC/1."
_CHUNK = 1 << 18  # bytes decompressed at once
_HEADER_WITH_COMMENT = b"\x1f\x8b\x08\x10\0\0\0\0\0\xff"  # of a gzip member; the comment and a zero byte follow
_RAW_DEFLATE = -15


class Damage(NamedTuple):
    """Bytes of an archive file that are not part of an intact record."""

    start: int
    end: int


class Intact(NamedTuple):
    """An intact record; *record* is None unless it is a response or a revisit."""

    start: int
    end: int
    record: Record | None
    target: str = ""  # the URL that its WARC header names
    is_request: bool = False
    is_filler: bool = False


def scan(path: Path) -> Iterator[Intact | Damage]:
    """Cover a whole archive file by intact records and damaged ranges, in order."""
    with path.open("rb") as handle:
        if not os.fstat(handle.fileno()).st_size:
            return
        with mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield from _scan(path.name, data)


def _scan(name: str, data: mmap.mmap) -> Iterator[Intact | Damage]:
    at = damaged = 0
    while 0 <= at < len(data):
        found = _intact_at(name, data, at)
        if found is None:
            at = data.find(_MEMBER_START, at + 1)
            continue
        if damaged < at:
            yield Damage(damaged, at)
        yield found
        at = damaged = found.end
    if damaged < len(data):
        yield Damage(damaged, len(data))


def _intact_at(name: str, data: mmap.mmap, start: int) -> Intact | None:
    """The intact record at *start*; None: there is none."""
    try:
        content, end = _member(data, start)
        record = next(iter(ArchiveIterator(io.BytesIO(content), record_types=WarcRecordType.any_type)))
        target = record.headers.get("WARC-Target-URI") or ""
        if record.record_type not in (WarcRecordType.response, WarcRecordType.revisit):
            is_request = record.record_type == WarcRecordType.request
            return Intact(start, end, None, target, is_request, record.record_type == WarcRecordType.metadata)
        read = read_record(record, ArchivePosition(name, start, end - start))
    except (ValueError, LookupError, StopIteration, OSError, isal_zlib.error):  # type: ignore[misc]  # a wrong stub
        return None
    return Intact(start, end, read, target) if read.is_sound else None


def _member(data: mmap.mmap, start: int) -> tuple[bytes, int]:
    """The content of the gzip member at *start*, and its end; ValueError when there is no record in it."""
    inflate = isal_zlib.decompressobj(_GZIP)
    pieces, at = [], start
    while not inflate.eof:
        chunk = data[at : at + _CHUNK]
        if not chunk:
            raise ValueError("the file ends within a record")
        pieces.append(inflate.decompress(chunk))
        at += len(chunk)
        if not pieces[0].startswith(_RECORD_START[: len(pieces[0])]):
            raise ValueError("not a WARC record")
    return b"".join(pieces), at - len(inflate.unused_data)


def fill(path: Path, *ranges: Damage) -> None:
    """Overwrite ranges of bytes, damaged or not, by one record of the same length each."""
    with reporting_full_disk(path.parent), path.open("r+b") as handle:
        for damage in ranges:
            handle.seek(damage.start)
            handle.write(_filling(path, damage))
        handle.flush()
        os.fsync(handle.fileno())


def is_filling(path: Path, damage: Damage) -> bool:
    """Whether damaged bytes begin as a filler does: a process was killed while it wrote one."""
    with path.open("rb") as handle:
        return os.pread(handle.fileno(), len(_HEADER_WITH_COMMENT), damage.start) == _HEADER_WITH_COMMENT


def _filling(path: Path, damage: Damage) -> bytes:
    """A gzip member of exactly the length of the damage: the comment in its header makes up the length."""
    content = filler()
    deflate = zlib.compressobj(9, zlib.DEFLATED, _RAW_DEFLATE)
    body = deflate.compress(content) + deflate.flush() + struct.pack("<II", zlib.crc32(content), len(content))
    comment = damage.end - damage.start - len(_HEADER_WITH_COMMENT) - 1 - len(body)
    if comment < 0:
        raise DamagedFile(f"{path} is damaged", f"the {damage.end - damage.start} bytes at {damage.start} are too few")
    return _HEADER_WITH_COMMENT + b" " * comment + b"\0" + body
