"""Runs some searches on a newly opened index, so that the first search of a user is as fast as later ones.

The first searches load libraries and read files: they take 0.1 to 0.3 s, later ones 0.01 to 0.02 s.
"""

from __future__ import annotations

from contextlib import suppress

from periplus.errors import PeriplusError
from periplus.search.engine import SearchEngine

_SEARCHES = 12
_LONGEST_QUERY = 40  # characters
_MISSPELLED = "harbuor"  # reads the files of the spelling correction


def warm_up(engine: SearchEngine) -> None:
    """Searches for titles of pages from all parts of the index; damage is reported by later searches."""
    with suppress(PeriplusError):
        engine.search(_MISSPELLED, size=1)
        for title in engine.some_titles(_SEARCHES):
            engine.search(title[:_LONGEST_QUERY], size=10)
