"""Changes numbers in a table of a TOML file, and leaves everything else as it is: comments, order and other tables.

The result is parsed and compared with the intended content. A file in an unusual form is refused, never damaged.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from periplus.errors import ConfigError

_HEADER = re.compile(r"\s*\[")


def with_numbers(text: str, table: str, values: Mapping[str, float]) -> str:
    """The text of the file with these values in a table; raises ConfigError when the table cannot be edited."""
    lines = text.splitlines(keepends=True)
    newline = "\r\n" if text.endswith("\r\n") else "\n"
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += newline
    header = re.compile(rf"\s*\[\s*{re.escape(table)}\s*\]\s*(#.*)?")
    begin = next((at for at, line in enumerate(lines) if header.fullmatch(line.rstrip("\r\n"))), None)
    if begin is None:
        lines += [newline] * bool(lines) + [f"[{table}]{newline}"]
        begin = len(lines) - 1
    end = next((at for at in range(begin + 1, len(lines)) if _HEADER.match(lines[at])), len(lines))
    lines[begin + 1 : end] = _changed(lines[begin + 1 : end], values, newline)
    edited = "".join(lines)
    _require_intended(text, edited, table, values)
    return edited


def _changed(lines: list[str], values: Mapping[str, float], newline: str) -> list[str]:
    """The lines of a table with new values; values that it did not have come after its last value."""
    missing = dict(values)
    for at, line in enumerate(lines):
        found = re.match(r"(\s*)([\w-]+)(\s*=\s*)([-+.\w]+)(.*)", line, re.DOTALL)
        if found and found[2] in missing:
            lines[at] = f"{found[1]}{found[2]}{found[3]}{missing.pop(found[2])!r}{found[5]}"
    last = max((at + 1 for at, line in enumerate(lines) if line.strip()), default=0)
    return [*lines[:last], *(f"{name} = {value!r}{newline}" for name, value in missing.items()), *lines[last:]]


def _require_intended(before: str, after: str, table: str, values: Mapping[str, float]) -> None:
    try:
        wanted: dict[str, Any] = tomllib.loads(before)
        wanted[table] = {**wanted.get(table, {}), **values}
        is_intended = tomllib.loads(after) == wanted
    except (ValueError, TypeError):
        is_intended = False
    if not is_intended:
        lines = ", ".join(f"{name} = {value!r}" for name, value in values.items())
        raise ConfigError(
            f"[{table}] in periplus.toml cannot be edited", "it has an unusual form", f"Write into it: {lines}"
        )
