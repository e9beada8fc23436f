"""Changes values in a table of a TOML file, and leaves everything else as it is: comments, order and other tables.

The result is parsed and compared with the intended content. A file in an unusual form is refused, never damaged.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from periplus.errors import ConfigError

Value = float | str | None  # None: the value is removed
_HEADER = re.compile(r"\s*\[")
_LINE = re.compile(r"""(\s*)([\w-]+)(\s*=\s*)([-+.\w]+|"[^"\\\n]*"|'[^'\n]*')(.*)""", re.DOTALL)


def with_values(text: str, table: str, values: Mapping[str, Value]) -> str:
    """The text of the file with these values in a table, such as `ranking` or `console.tokens`.

    Raises ConfigError when the table cannot be edited.
    """
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


def _changed(lines: list[str], values: Mapping[str, Value], newline: str) -> list[str]:
    """The lines of a table with new values; values that it did not have come after its last value."""
    missing, kept = dict(values), list[str]()
    for line in lines:
        found = _LINE.match(line)
        if not found or found[2] not in missing:
            kept.append(line)
        elif (value := missing.pop(found[2])) is not None:
            kept.append(f"{found[1]}{found[2]}{found[3]}{_written(value)}{found[5]}")
    last = max((at + 1 for at, line in enumerate(kept) if line.strip()), default=0)
    added = [f"{name} = {_written(value)}{newline}" for name, value in missing.items() if value is not None]
    return [*kept[:last], *added, *kept[last:]]


def _written(value: float | str) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _require_intended(before: str, after: str, table: str, values: Mapping[str, Value]) -> None:
    try:
        wanted: dict[str, Any] = tomllib.loads(before)
        content = wanted
        for name in table.split("."):
            content = content.setdefault(name, {})
        content |= values
        for name in [name for name, value in content.items() if value is None]:
            del content[name]
        is_intended = tomllib.loads(after) == wanted
    except (ValueError, TypeError, AttributeError):
        is_intended = False
    if not is_intended:
        numbers = ", ".join(f"{name} = {value!r}" for name, value in values.items() if isinstance(value, float | int))
        hint = (
            f"Write into it: {numbers}" if numbers else f"Write a line [{table}], and below it one line for each value."
        )
        raise ConfigError(f"[{table}] in periplus.toml cannot be edited", "it has an unusual form", hint)
