"""Changes values in periplus.toml of a collection, atomically; the rest of the file and its permissions stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from stat import S_IMODE

from periplus.config import FILE_NAME
from periplus.config.toml_edit import Value, with_values
from periplus.store.durable import reporting_full_disk, write_file

_BYTE_ORDER_MARK = "\ufeff"
_PRIVATE = 0o600


def write_settings(home: Path, table: str, values: Mapping[str, Value], *, is_private: bool = False) -> Path:
    """Changes values of a table and returns the path of the file; *is_private*: a new file gets the mode 0600."""
    _, edited = settings_before_and_after(home, table, values)
    return replace_settings(home, edited, is_private=is_private)


def replace_settings(home: Path, text: str, *, is_private: bool = False) -> Path:
    """Replaces the content of the file and returns its path; *is_private*: a new file gets the mode 0600."""
    path = _path(home)
    mode = S_IMODE(path.stat().st_mode) if path.exists() else _PRIVATE if is_private else None
    with reporting_full_disk(home):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text.encode())
        if mode is not None:
            path.chmod(mode)
    return path


def settings_before_and_after(home: Path, table: str, values: Mapping[str, Value]) -> tuple[str, str]:
    """The text of the file now, and with these values."""
    path = _path(home)
    text = path.read_bytes().decode() if path.exists() else ""
    mark = _BYTE_ORDER_MARK if text.startswith(_BYTE_ORDER_MARK) else ""
    return text, mark + with_values(text.removeprefix(mark), table, values)


def is_readable_by_others(path: Path) -> bool:
    """Whether other users of this machine may read the file."""
    return bool(path.stat().st_mode & 0o077)


def _path(home: Path) -> Path:
    return (home / FILE_NAME).resolve()  # the file may be a symbolic link
