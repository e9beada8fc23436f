"""Searches the same pages with Lucene, which measures its own CPU time."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from harness.errors import BenchError
from indexing.lucene import Lucene

_PROGRAM = Path(__file__).with_name("LuceneSearcher.java")
_PAGES = "pages-for-lucene"
_SECONDS = 3_600  # maximum for one run


class LuceneSearcher(Lucene):
    """Lucene with an English analyzer; it counts at most 1,000 matches."""

    def milliseconds(self, folder: Path, queries: Sequence[Sequence[str]], rounds: int) -> list[list[float]]:
        """CPU milliseconds of every query, by round; builds the index when it is missing."""
        saved = folder / "queries-for-lucene"
        saved.write_bytes(b"".join(_string(" ".join(words)) for words in queries))
        command: list[str | Path] = [self._java, "-Xmx4g", "-cp", os.pathsep.join(map(str, self._jars)), _PROGRAM]
        command += [folder / _PAGES, folder / "lucene", saved, str(rounds)]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)
        if ran.returncode:
            raise BenchError(f"Lucene ended with an error: {ran.stderr.strip()[-400:]}")
        measured: list[list[float]] = json.loads(ran.stdout)
        return measured


def saved(folder: Path, pages: Iterable[tuple[str, str]]) -> Iterator[None]:
    """Write pages in the form that LuceneSearcher.java reads, one at a time."""
    with (folder / _PAGES).open("wb") as file:
        for title, text in pages:
            file.write(_string(title) + _string(text))
            yield


def _string(text: str) -> bytes:
    encoded = text.encode("utf-8", "replace")
    return struct.pack(">i", len(encoded)) + encoded
