"""Writes tables of settings as a TOML file that a person can read and edit."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_LONG = 100  # characters of an array, from which on every element has a line of its own


def written_tables(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a file with these tables."""
    return "\n".join("".join(_table(name, content)) for name, content in tables.items())


def _table(name: str, content: Mapping[str, Any]) -> Iterator[str]:
    """The lines of a table: first its values, then the tables within it."""
    inner = {key: value for key, value in content.items() if isinstance(value, Mapping)}
    if len(inner) < len(content) or not content:
        yield f"[{name}]\n"
    for key, value in content.items():
        if key not in inner:
            yield f"{_key(key)} = {_value(value)}\n"
    for number, (key, value) in enumerate(inner.items()):
        yield "\n" if number or len(inner) < len(content) else ""
        yield from _table(f"{name}.{_key(key)}", value)


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _string(name)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        parts = [_value(part) for part in value]
        line = f"[{', '.join(parts)}]"
        return line if len(line) < _LONG else "[\n" + "".join(f"    {part},\n" for part in parts) + "]"
    return _string(value) if isinstance(value, str) else str(value)


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
