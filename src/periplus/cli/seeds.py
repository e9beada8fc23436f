"""Which URLs does a seeds file name?"""

from __future__ import annotations

from pathlib import Path

from periplus.errors import BadUrl, UsageError
from periplus.url import parse


def read_seeds(path: Path) -> list[str]:
    """The URLs of a file with one URL a line, or `host<TAB>url<TAB>url...`; empty lines and # comments are skipped."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()  # some editors begin a file with a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the seeds file {path} cannot be read", str(error)) from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            found += [_checked(cell, path, number) for cell in _cells(line)]
    if not found:
        raise UsageError(f"the seeds file {path} names no URL", hint="Write one URL a line.")
    return found


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.split("\t")]
    return [cell for cell in (cells[1:] if len(cells) > 1 else cells) if cell]


def _checked(text: str, path: Path, number: int) -> str:
    try:
        return parse(text).text
    except BadUrl as error:
        raise BadUrl(f"line {number} of {path}: {error.what}", error.why, error.hint) from error
