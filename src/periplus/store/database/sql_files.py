"""Reads SQL files, which consist of named blocks."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

_BLOCK = re.compile(r"^-- name: (\w+)\n([^;]*);$", re.MULTILINE)


@lru_cache(maxsize=16)
def read_statements(package: str, name: str) -> dict[str, str]:
    """Read the blocks of an SQL file in *package*, by name; a block ends at its only semicolon."""
    return dict(_BLOCK.findall(resources.files(package).joinpath(name).read_text(encoding="utf-8")))
