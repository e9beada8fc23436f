"""Parses archived pages again, fully and with the current parser.

A crawl parses HTML quickly, with only what the crawl needs. Main text, language, quality and the rest are extracted
from the archive before an index is built. Each segment is replaced in one transaction by a segment with the same rows
in the same order. After an interruption the next run continues with the remaining segments. A page that cannot be
parsed keeps its previous row.
"""

from __future__ import annotations

from periplus.reparse.plan import rename_planned
from periplus.reparse.run import Reparsed, reparse

__all__ = ["Reparsed", "rename_planned", "reparse"]
