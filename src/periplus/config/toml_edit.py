"""Changes values in a table of a TOML file, and leaves everything else as it is: comments, order and other tables.

The result is parsed and compared with the intended content. A file in an unusual form is refused, never damaged.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any

from periplus.errors import ConfigError

Value = float | str | list[str] | None  # None: the value is removed
_HEADER = re.compile(r"\s*\[")
_ARRAY = re.compile(r"\s*([\w-]+)\s*=\s*\[")
_BARE_KEY = re.compile(r"[\w-]+", re.ASCII)
_LINE = re.compile(r"""(\s*)([\w-]+|"[^"\\\n]*")(\s*=\s*)([-+.\w]+|"[^"\\\n]*"|'[^'\n]*')(.*)""", re.DOTALL)


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
    missing, kept, at = dict(values), list[str](), 0
    while at < len(lines):
        found = _LINE.match(lines[at])
        if found and (name := found[2].strip('"')) in missing:
            value = missing.pop(name)
            kept += [] if value is None else [f"{found[1]}{found[2]}{found[3]}{_written(value)}{found[5]}"]
            at += 1
        elif (array := _ARRAY.match(lines[at])) and array[1] in missing:
            until = at + _length(lines[at:])
            kept += _changed_array(lines[at:until], missing.pop(array[1]), newline)
            at = until
        else:
            kept.append(lines[at])
            at += 1
    last = max((at + 1 for at, line in enumerate(kept) if line.strip()), default=0)
    added = [f"{_key(name)} = {_written(value)}{newline}" for name, value in missing.items() if value is not None]
    return [*kept[:last], *added, *kept[last:]]


def _length(lines: Sequence[str]) -> int:
    """The number of lines of the value that begins in the first line; 1 when no value ends."""
    return next((end for end in range(1, len(lines) + 1) if _parsed("".join(lines[:end])) is not None), 1)


def _changed_array(lines: Sequence[str], value: Value, newline: str) -> list[str]:
    """The lines of an array with other elements; lines of elements that stay keep their comments."""
    if value is None:
        return []
    name = lines[0].partition("=")[0]
    whole = [f"{name}= {_written(value)}{_comment(lines[-1])}{newline}"]
    if not isinstance(value, list) or len(lines) < 3:
        return whole
    inner = [(line, _elements(line)) for line in lines[1:-1]]
    if any(found is None or len(found) > 1 for _, found in inner):
        return whole
    kept = [
        line if line.partition("#")[0].rstrip().endswith(",") or not found else _with_comma(line, found[0])
        for line, found in inner
        if found is not None and set(found) <= set(value)
    ]
    present = {element for _, found in inner for element in found or ()}
    indent = "".join(takewhile(str.isspace, lines[1]))
    added = [f"{indent}{_written(element)},{newline}" for element in value if element not in present]
    edited = [lines[0], *kept, *added, lines[-1]]
    return edited if (_parsed("".join(edited)) or {}).get(name.strip()) == value else whole


def _with_comma(line: str, element: str) -> str:
    """The line of the last element with a comma after it."""
    return line.replace(_written(element), f"{_written(element)},", 1)


def _elements(line: str) -> list[Any] | None:
    """The elements of an array in one of its lines; None when the line has something else."""
    found = _parsed(f"x = [{line}\n]")
    return None if found is None else found["x"]


def _comment(line: str) -> str:
    """The comment after an array, with the space before it."""
    ends = [line.rindex("]", 0, at) + 1 for at, sign in enumerate(line) if sign == "#" and "]" in line[:at]]
    return next((line[end:].rstrip() for end in ends if line[end:].lstrip().startswith("#")), "")


def _parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except ValueError:
        return None


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else json.dumps(name)


def _written(value: float | str | list[str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
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
