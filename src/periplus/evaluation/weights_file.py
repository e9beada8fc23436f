"""Writes learned weights into the settings file of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

from periplus.config import FILE_NAME
from periplus.config.toml_edit import with_numbers
from periplus.store.durable import reporting_full_disk, write_file

_BYTE_ORDER_MARK = "\ufeff"


def write_weights(home: Path, weights: Mapping[str, float]) -> None:
    """Changes the weights in the table `[ranking]` of periplus.toml; the rest of the file stays as it is."""
    path = _path(home)
    mode = path.stat().st_mode if path.exists() else None
    _, edited = _before_and_after(path, weights)
    with reporting_full_disk(home):
        write_file(path, edited.encode())
        if mode is not None:
            path.chmod(mode)


def changed_lines(home: Path, weights: Mapping[str, float]) -> list[str]:
    """The lines that `write_weights` would remove, add and leave around them: each begins with -, + or a space."""
    before, after = (text.splitlines() for text in _before_and_after(_path(home), weights))
    return [line for line in unified_diff(before, after, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))]


def _path(home: Path) -> Path:
    return (home / FILE_NAME).resolve()  # the file may be a symbolic link


def _before_and_after(path: Path, weights: Mapping[str, float]) -> tuple[str, str]:
    text = path.read_bytes().decode() if path.exists() else ""
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    return text, mark + with_numbers(text.removeprefix(mark), "ranking", weights)
