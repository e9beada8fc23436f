"""Builds the Server-Timing header, which browser developer tools show."""

from __future__ import annotations

import re

from periplus.model import Results

_NOT_TOKEN = re.compile(r"[^A-Za-z0-9_-]+")


def timing_headers(found: Results) -> dict[str, str]:
    """The time of each step of a search."""
    steps = {"total": found.seconds, **found.steps}
    entries = (f"{_NOT_TOKEN.sub('_', name)};dur={1000 * seconds:.3f}" for name, seconds in steps.items())
    return {"server-timing": ", ".join(entries)}
