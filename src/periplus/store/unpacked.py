"""How is a file read that may be compressed, and damaged anywhere?

As one stream of bytes. Where a compressed file is damaged, reading goes on with its next member; how often that
happened is counted, so that whoever reads a record across such a place knows that it is not whole.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

_MAGIC = b"\x1f\x8b\x08"
_CHUNK = 1 << 16
_UNPACKED_AT_ONCE = 1 << 20
_GZIP = 31  # zlib's window bits that mean "with a gzip header"


class Unpacked:
    """The bytes of a file, unpacked if it begins like gzip."""

    def __init__(self, path: Path) -> None:
        self._handle: BinaryIO = path.open("rb")
        packed = self._handle.read(len(_MAGIC)) == _MAGIC
        self._handle.seek(0)
        self._chunks = self._unpacked() if packed else self._plain()
        self._buffer = bytearray()
        self._start = 0  # of what is left in the buffer
        self.position = 0  # of the next byte, unpacked
        self.damages = 0  # places passed where the file is damaged

    def __enter__(self) -> Unpacked:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._handle.close()

    def line(self, limit: int) -> bytes:
        """The next line with its end, or as much of it as *limit* allows; nothing at the end of the file."""
        while True:
            end = self._buffer.find(b"\n", self._start, self._start + limit) + 1
            if end:
                return self._take(end - self._start)
            if len(self._buffer) - self._start >= limit or not self._fill():
                return self._take(min(limit, len(self._buffer) - self._start))

    def read(self, size: int) -> bytes:
        """The next *size* bytes; fewer at the end of the file."""
        while len(self._buffer) - self._start < size and self._fill():
            pass
        return self._take(min(size, len(self._buffer) - self._start))

    def skip(self, size: int) -> int:
        """Pass over *size* bytes without holding them; returns how many there were."""
        left = size
        while left and (passed := len(self.read(min(left, _UNPACKED_AT_ONCE)))):
            left -= passed
        return size - left

    def _take(self, size: int) -> bytes:
        taken = bytes(memoryview(self._buffer)[self._start : self._start + size])
        self._start += size
        self.position += size
        if self._start == len(self._buffer):
            self._buffer.clear()
            self._start = 0
        return taken

    def _fill(self) -> bool:
        chunk = next(self._chunks, b"")
        if self._start > _UNPACKED_AT_ONCE:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += chunk
        return bool(chunk)

    def _plain(self) -> Iterator[bytes]:
        return iter(lambda: self._handle.read(_CHUNK), b"")

    def _unpacked(self) -> Iterator[bytes]:
        packed = b""
        while packed := packed or self._handle.read(_CHUNK):
            member = _Member()
            with suppress(zlib.error):
                yield from member.content(packed, self._handle)
            if member.is_whole:
                packed = member.rest.lstrip(b"\0")  # some programs fill up with zeros
            else:
                self.damages += 1
                yield b"\n"  # what follows is on a line of its own
                packed = self._next_member(member.rest[1:])

    def _next_member(self, packed: bytes) -> bytes:
        """What follows from the next place on that looks like the beginning of a member."""
        while (found := packed.find(_MAGIC)) < 0:
            more = self._handle.read(_CHUNK)
            if not more:
                return b""
            packed = packed[-len(_MAGIC) :] + more
        return packed[found:]


class _Member:
    """One member of a compressed file."""

    def __init__(self) -> None:
        self._reader = zlib.decompressobj(_GZIP)
        self.rest = b""  # what was read but does not belong to it, as far as is known

    @property
    def is_whole(self) -> bool:
        """Whether its end was reached, and its checksum right."""
        return self._reader.eof

    def content(self, packed: bytes, handle: BinaryIO) -> Iterator[bytes]:
        """What it holds; it begins with *packed* and goes on in the file."""
        self.rest = packed
        while self.rest:
            unpacked = self._reader.decompress(self.rest, _UNPACKED_AT_ONCE)
            if unpacked:
                yield unpacked
            if self._reader.eof:
                self.rest = self._reader.unused_data
                return
            self.rest = self._reader.unconsumed_tail or handle.read(_CHUNK)
