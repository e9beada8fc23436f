"""Writes forward indexes of made pages."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.forward.forward_writer import ForwardWriter

PAGE: dict[str, Any] = {
    "url": "http://example.org/docs/merge-commits",
    "title": "Merging",
    "headings": ["Merge commits", "See also"],
    "categories": [],
    "keywords": "",
    "anchors": ["how to merge", "merging"],
    "description": "How branches are merged.",
    "text": "A commit merges two branches. Commits are cheap.",
    "language": "en",
}
BARE = PAGE | {"url": "http://x/", "title": "", "headings": [], "anchors": [], "description": ""}


def write_forward(folder: Path, rows: Iterable[dict[str, Any]], body_words: int = 3000) -> ForwardIndex:
    """Write the pages and open the index."""
    writer = ForwardWriter(folder, body_words)
    try:
        for row in rows:
            page = {**PAGE, **row}
            writer.add({"short_title": page["title"], **page})
        writer.finish()
    finally:
        writer.close()
    return ForwardIndex(folder)
