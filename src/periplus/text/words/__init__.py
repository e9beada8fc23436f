"""Splits text into words and numbers them, for the forward index.

The table is compiled by Cython, which needs a C compiler when Periplus is installed. Without it `plain` gives the same
result in about 15 times the time.
"""

from __future__ import annotations

from periplus.text.words.characters import LONGEST, split

try:
    from periplus.text.words.table import WordTable

    IS_COMPILED = True
except ImportError:
    from periplus.text.words.plain import WordTable  # type: ignore[assignment]  # the same methods

    IS_COMPILED = False

__all__ = ["IS_COMPILED", "LONGEST", "WordTable", "split"]
