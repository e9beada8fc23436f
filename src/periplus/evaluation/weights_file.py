"""Writes learned weights into the settings file of a collection."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

from periplus.store.settings_file import settings_before_and_after, write_settings

_TABLE = "ranking"


def write_weights(home: Path, weights: Mapping[str, float]) -> None:
    """Changes the weights in the table `[ranking]` of periplus.toml; the rest of the file stays as it is."""
    write_settings(home, _TABLE, weights)


def changed_lines(home: Path, weights: Mapping[str, float]) -> list[str]:
    """The lines that `write_weights` would remove, add and leave around them: each begins with -, + or a space."""
    before, after = (text.splitlines() for text in settings_before_and_after(home, _TABLE, weights))
    return [line for line in unified_diff(before, after, lineterm="", n=2) if not line.startswith(("---", "+++", "@@"))]
