"""What is a document made of? Reads the pages of planned documents from their segments."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from periplus.errors import DamagedFile
from periplus.index.documents.out_links import OutLinks
from periplus.index.documents.sites import Site
from periplus.index.documents.templates import Templates
from periplus.store.segments.schema import main_text, read_some_pages

ROWS_AT_ONCE = 512
# fmt: off
_COLUMNS = [
    "url_id", "url", "host", "fetched_at", "mime", "title", "description", "keywords", "headings", "text", "language",
    "archive", "offset", "length", "main", "categories", "images", "videos", "published", "modified", "quality",
]
# fmt: on


class Segment(NamedTuple):
    """The two files of a segment."""

    pages: Path
    links: Path | None  # None: it is damaged


class DocumentReader:
    """Reads planned documents: the columns of their segments, with their links, and without what their hosts repeat."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        links: str,
        segments: Mapping[str, Segment],
        templates: Templates,
        sites: Mapping[str, Site],
    ) -> None:
        """*database* groups links by *links*, a statement of plan.sql; *segments*: by name in `rows`."""
        self._database, self._links, self._segments = database, links, segments
        self._templates, self._sites = templates, sites

    def rows(self, planned: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Every document in the order of *planned*, which are `rows` in plan.sql."""
        for page, chosen in self._chosen_pages(planned):
            text = self._templates.strip(page["host"], main_text(page["text"], page["main"]))
            site = self._sites.get(page["host"])
            short_title = site.short_title(page["title"]) if site else page["title"]
            dates = {"is_listed": chosen["listed_at"] is not None}
            if page["published"] is None:
                dates["published"] = chosen["listed_at"]
            own = {"features": page["quality"], "text": text, "short_title": short_title, **dates}
            yield {**page, **chosen, **own}

    def _chosen_pages(self, planned: Iterator[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        """The columns of every document: those of its segment with its links, and those of `rows` in plan.sql."""
        planned_rows = _PlannedRows(planned)
        while planned_rows.next is not None:
            name = planned_rows.next["segment"]
            segment = self._segments[name]
            links = OutLinks(self._database, self._links, segment.links)
            has_rows = partial(planned_rows.has_rows, name)
            for start, batch in read_some_pages(segment.pages, _COLUMNS, ROWS_AT_ONCE, has_rows):
                here = planned_rows.take(name, start + len(batch))
                pages = batch.take(pa.array([row["place"] - start for row in here], pa.int64())).to_pylist()
                for page, linked, row in zip(pages, links.of(pages), here, strict=True):
                    yield page | linked, row
            if planned_rows.has_rows(name, 0, sys.maxsize):
                raise DamagedFile(f"{segment.pages} is damaged", "it has fewer rows than were joined")


class _PlannedRows:
    """The rows of `rows` in plan.sql, in the order of segment and place."""

    def __init__(self, rows: Iterator[dict[str, Any]]) -> None:
        self._rows, self.next = rows, next(rows, None)

    def has_rows(self, segment: str, _start: int, end: int) -> bool:
        """Whether the next row is in a segment, before the place *end*."""
        return self.next is not None and self.next["segment"] == segment and self.next["place"] < end

    def take(self, segment: str, end: int) -> list[dict[str, Any]]:
        """The next rows in a segment, before the place *end*."""
        found = []
        while self.next is not None and self.has_rows(segment, 0, end):
            found.append(self.next)
            self.next = next(self._rows, None)
        return found
