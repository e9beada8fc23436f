"""Digests of files: segments and the files of generations are checked against them before they are used.

New digests are XXH3 with 128 bits, which takes 0.1 s per GB. Those of earlier releases are SHA-256: they are twice as
long. The `meta.json` of a generation has size and digest of every file, and a digest of its own text.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from periplus.errors import DamagedFile
from periplus.store.manifest import SealedSegment

_SHA256_BYTES = 32
_MAX_THREADS = 4  # each needs 256 KiB of memory
_CHANGED = "its content does not match its checksum"


class StoredFile(NamedTuple):
    """A file, with the size and digest that were stored when it was written."""

    path: Path
    size: int
    digest: bytes

    def damage(self) -> DamagedFile | None:
        """The error that names the file and the problem, or None when the file is intact."""
        problem = wrong_content(self.path, self.size, self.digest)
        return None if problem is None else DamagedFile(f"{self.path} is damaged", problem)

    def require_intact(self) -> None:
        """Raise `DamagedFile` when the file is missing or has not the size and content that were stored."""
        if (damage := self.damage()) is not None:
            raise damage


def segment_file(folder: Path, segment: SealedSegment) -> StoredFile:
    """The file of a segment, with the size and digest that the catalog has."""
    return StoredFile(folder / segment.name, segment.size, segment.digest)


def require_intact(files: Iterable[StoredFile]) -> None:
    """Raise `DamagedFile` for the first file that is missing or has not the size and content that were stored."""
    with ThreadPoolExecutor(min(_MAX_THREADS, os.cpu_count() or 1), "checksums") as threads:
        try:
            for _ in threads.map(StoredFile.require_intact, files):
                pass
        finally:
            threads.shutdown(wait=False, cancel_futures=True)


def with_checksums(facts: dict[str, Any]) -> bytes:
    """Serialise the facts as JSON, with a digest of their text."""
    return _with_digest(facts, xxhash.xxh3_128_hexdigest(json.dumps(facts).encode()))


def verified(content: bytes) -> dict[str, Any]:
    """Parse the facts and check their digest; ValueError when it does not match."""
    found = json.loads(content)
    facts = {name: fact for name, fact in found.items() if name != "digest"} if isinstance(found, dict) else {}
    of_earlier_release = _with_digest(facts, hashlib.sha256(json.dumps(facts).encode()).hexdigest())
    if content not in (with_checksums(facts), of_earlier_release):
        raise ValueError(_CHANGED)
    return facts


def _with_digest(facts: dict[str, Any], digest: str) -> bytes:
    return json.dumps({**facts, "digest": digest}).encode()


def wrong_size(path: Path, size: int) -> str | None:
    """What is wrong with the presence or size of a file, or None."""
    if not path.is_file():
        return "the file is missing"
    found = path.stat().st_size
    return f"it has {found} bytes instead of {size}" if found != size else None


def wrong_content(path: Path, size: int, digest: bytes) -> str | None:
    """What is wrong with the size or content of a file, or None."""
    try:
        return wrong_size(path, size) or (None if has_digest(path, digest) else _CHANGED)
    except OSError as error:
        return f"it cannot be read: {error.strerror}"


def has_digest(path: Path, digest: bytes) -> bool:
    """Whether a file has the digest that this release or an earlier one computed."""
    if len(digest) == _SHA256_BYTES:
        with path.open("rb", buffering=0) as file:
            return hashlib.file_digest(file, "sha256").digest() == digest
    return file_digest(path) == digest


def file_digest(path: Path) -> bytes:
    """The XXH3 digest of a file, of 128 bits."""
    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, xxhash.xxh3_128).digest()
