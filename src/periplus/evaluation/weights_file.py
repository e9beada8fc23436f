"""Writes learned weights into the settings file of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from periplus.config import FILE_NAME
from periplus.config.toml_edit import with_numbers
from periplus.store.durable import reporting_full_disk, write_file

_BYTE_ORDER_MARK = "\ufeff"


def write_weights(home: Path, weights: Mapping[str, float]) -> None:
    """Changes the weights in the table `[ranking]` of periplus.toml; the rest of the file stays as it is."""
    path = (home / FILE_NAME).resolve()  # the file may be a symbolic link
    text, mode = (path.read_bytes().decode(), path.stat().st_mode) if path.exists() else ("", None)
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    edited = mark + with_numbers(text.removeprefix(mark), "ranking", weights)
    with reporting_full_disk(home):
        write_file(path, edited.encode())
        if mode is not None:
            path.chmod(mode)
