"""Indexes the same documents with Lucene, from Debian packages that are unpacked and not installed."""

from __future__ import annotations

import os
import struct
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness import packages
from harness.errors import BenchError
from periplus.index.documents import facets, schema

PACKAGES = ("liblucene8-java", "openjdk-17-jre-headless")
_PROGRAM = Path(__file__).with_name("LuceneIndexer.java")
_RAW = {schema.FIELD_LANGUAGE, schema.URL_ID, schema.SITE}
_FAST_ONLY = {schema.PRIOR, facets.DATE, facets.HOST}
_SECONDS = 3_600  # maximum for one run


class Lucene:
    """Lucene with the same fields, analyzers of the same kind, threads and memory buffer."""

    def __init__(self, cache: Path) -> None:
        folders = packages.unpack(PACKAGES, cache)
        self.version = packages.versions(PACKAGES[:1], cache).get(PACKAGES[0], "unknown")
        jars = folders[PACKAGES[0]] / "usr" / "share" / "java"
        self._jars = [_only(jars, f"lucene-{part}-8*.jar") for part in ("core", "analyzers-common")]
        runtime = folders[PACKAGES[1]]
        _link_inside(runtime)
        self._java = _only(runtime, "usr/lib/jvm/java-17-*/bin/java")

    def cpu_seconds(self, documents: Path, threads: int, buffer_mb: int) -> float:
        """CPU seconds for indexing documents that `save` wrote."""
        with tempfile.TemporaryDirectory(prefix="lucene-") as folder:
            command: list[str | Path] = [self._java, "-Xmx6g", "-cp", os.pathsep.join(map(str, self._jars)), _PROGRAM]
            command += [documents, folder, str(threads), str(buffer_mb)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        if ran.returncode:
            raise BenchError(f"Lucene ended with an error: {ran.stderr.strip()[-400:]}")
        return float(ran.stdout)


def save(rows: Iterable[dict[str, Any]], path: Path) -> None:
    """Write documents in the form that LuceneIndexer.java reads."""
    with path.open("wb") as file:
        for row in rows:
            values = list(_values(row))
            file.write(struct.pack(">i", len(values)) + b"".join(values))


def _values(row: dict[str, Any]) -> Iterator[bytes]:
    for name, given in row.items():
        for value in given if isinstance(given, list) else [given]:
            if isinstance(value, str):
                kind = b"R" if name in _RAW else b"C" if name == schema.CODE else b"T"
                yield kind + _string(name) + _string(value)
            elif isinstance(value, float):
                yield b"F" + _string(name) + struct.pack(">d", value)
            else:
                yield (b"F" if name in _FAST_ONLY else b"I") + _string(name) + struct.pack(">q", value)


def _string(text: str) -> bytes:
    encoded = text.encode("utf-8", "replace")
    return struct.pack(">i", len(encoded)) + encoded


def _only(folder: Path, pattern: str) -> Path:
    found = sorted(folder.glob(pattern))
    if not found:
        raise BenchError(f"{folder.name} has no {pattern}: the layout of the package has changed")
    return found[0]


def _link_inside(folder: Path) -> None:
    """Point the absolute links of an unpacked package into its folder, for instance those to /etc."""
    for path in folder.rglob("*"):
        if path.is_symlink() and (target := path.readlink()).is_absolute() and not path.exists():
            path.unlink()
            path.symlink_to(folder.resolve() / target.relative_to("/"))
