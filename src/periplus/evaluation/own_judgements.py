"""Keeps the results that the owner of a collection judged on the site, as files for `periplus eval` and `tune`.

The files have the form of TREC: `queries.tsv` with lines of `id<TAB>text`, and `qrels.txt` with lines of
`query 0 URL grade`, grade 1 for right and 0 for wrong. They may be edited by hand; other lines stay as they are.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import UsageError
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, write_file

_NUMBERED = re.compile(r"q(\d{1,9})")
_LONGEST = 4_096  # characters of a query or a URL
_Stamp = tuple[int, int, int]  # identifies the content of a file


class OwnJudgements:
    """The judged results of one collection; safe to share between threads and processes."""

    def __init__(self, collection: Collection) -> None:
        self._folder = collection.judgements
        self.queries, self.qrels = self._folder / "queries.tsv", self._folder / "qrels.txt"
        self._read: tuple[_Stamp | None, Mapping[str, Mapping[str, bool]]] = (None, {})

    @property
    def exist(self) -> bool:
        """Whether any result was judged."""
        return any(line.strip() for line in _lines(self.qrels))

    @property
    def version(self) -> str:
        """Identifies the judgements; changes with each of them."""
        return "-".join(map(str, _stamp(self.qrels) or ()))

    def judged(self, query: str) -> Mapping[str, bool]:
        """Whether a page is right for a query, by URL; pages that were not judged are missing."""
        stamp = _stamp(self.qrels)
        if stamp != self._read[0]:
            self._read = (stamp, self._by_query())
        return self._read[1].get(one_line(query), {})

    def judge(self, query: str, url: str, *, is_right: bool | None) -> None:
        """Keeps one judgement; it replaces an earlier one of the same page. None: no judgement any more."""
        text = one_line(query)
        if not text or len(text) > _LONGEST:
            raise UsageError("the query is empty or too long")
        if url.split() != [url] or len(url) > _LONGEST:
            raise UsageError("the URL is empty, too long or has spaces")
        with self._locked():
            name = self._id_of(text)
            kept = [line for line in _lines(self.qrels) if _pair(line) != (name, url)]
            added = [] if is_right is None else [f"{name} 0 {url} {int(is_right)}"]
            _write(self.qrels, [*kept, *added])

    def _id_of(self, text: str) -> str:
        """The id of a query, which is added if it is new."""
        lines = _lines(self.queries)
        known = {one_line(line.partition("\t")[2]): line.partition("\t")[0] for line in lines}
        if text in known:
            return known[text]
        numbers = [int(found[1]) for name in known.values() if (found := _NUMBERED.fullmatch(name))]
        name = f"q{max(numbers, default=0) + 1}"
        _write(self.queries, [*lines, f"{name}\t{text}"])
        return name

    def _by_query(self) -> dict[str, dict[str, bool]]:
        names = {name: one_line(text) for name, _, text in (line.partition("\t") for line in _lines(self.queries))}
        found: dict[str, dict[str, bool]] = {}
        for line in _lines(self.qrels):
            parts = line.split()
            if len(parts) == 4 and parts[0] in names:
                found.setdefault(names[parts[0]], {})[parts[2]] = not parts[3].startswith(("0", "-"))
        return found

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time changes the files."""
        with reporting_full_disk(self._folder.parent):
            self._folder.mkdir(exist_ok=True)
            folder = os.open(self._folder, os.O_RDONLY)
            try:
                fcntl.flock(folder, fcntl.LOCK_EX)
                yield
            finally:
                os.close(folder)


def one_line(text: str) -> str:
    """The text with single spaces, and without line breaks and tabs."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _pair(line: str) -> tuple[str, str] | None:
    parts = line.split()
    return (parts[0], parts[2]) if len(parts) == 4 else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace").removesuffix("\n").split("\n")
    except FileNotFoundError:
        return []


def _write(path: Path, lines: list[str]) -> None:
    write_file(path, "".join(f"{line}\n" for line in lines).encode())


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
