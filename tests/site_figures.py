"""Reads the text format of Prometheus."""

from __future__ import annotations

import re

_LINE = re.compile(r'[a-z_]+(?:\{[a-z]+="[^"]*"(?:,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+')


def figures(text: str) -> dict[str, float]:
    """Every figure by its name and labels; all lines must be well formed."""
    found = dict[str, float]()
    for line in text.splitlines():
        if not line.startswith("#"):
            assert _LINE.fullmatch(line), line
            name, _, value = line.rpartition(" ")
            assert name not in found
            found[name] = float(value)
    return found
