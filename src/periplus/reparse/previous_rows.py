"""Reads single rows of an existing segment, for pages that cannot be parsed again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from pyarrow import ArrowException, parquet

from periplus.errors import DamagedFile
from periplus.model import Image, Link, ListedPage, Page, Quality, Reason, Video
from periplus.store.checksums import StoredFile

_SIGNATURE_BITS = 64
_PLAIN_COLUMNS = ("title", "description", "keywords", "text", "language", "canonical", "noindex")


class PreviousRows:
    """Looks up rows of one segment one by one; only a few of thousands are needed."""

    def __init__(self, pages: StoredFile, links: StoredFile) -> None:
        """The caller has checked *pages*; *links* are checked before they are read."""
        self._pages, self._links, self._are_links_checked = pages.path, links, False
        self._group: tuple[int, list[dict[str, Any]]] = (-1, [])  # the last row group read: its number and rows

    def page(self, position: int) -> Page:
        """The page at a row number, with its links."""
        try:
            row = self._row(position)
            return _page(row, self._links_of(row))
        except (ArrowException, OSError) as error:
            raise DamagedFile(f"{self._pages} is damaged", str(error)) from error

    def _row(self, position: int) -> dict[str, Any]:
        with parquet.ParquetFile(self._pages) as file:
            group, begin = 0, 0
            while position - begin >= (rows := file.metadata.row_group(group).num_rows):
                group, begin = group + 1, begin + rows
            if self._group[0] != group:
                self._group = group, file.read_row_group(group).to_pylist()
        return self._group[1][position - begin]

    def _links_of(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        wanted = [("source_id", "=", row["url_id"]), ("fetched_at", "=", row["fetched_at"])]
        if not self._are_links_checked:
            self._links.require_intact()
            self._are_links_checked = True
        table = parquet.read_table(self._links.path, columns=["target", "anchor", "nofollow"], filters=wanted)
        return list(table.to_pylist())


def _page(row: dict[str, Any], links: list[dict[str, Any]]) -> Page:
    plain = {name: row[name] for name in _PLAIN_COLUMNS}
    edges = row.get("main") or []
    return Page(
        **plain,
        headings=tuple(row["headings"] or ()),
        links=tuple(Link(link["target"], link["anchor"], link["nofollow"]) for link in links),
        main=tuple(pairwise(edges))[::2],
        language_certainty=row.get("language_certainty") or 0.0,
        categories=tuple(row.get("categories") or ()),
        images=tuple(Image(**image) for image in row.get("images") or ()),
        videos=tuple(Video(**video) for video in row.get("videos") or ()),
        published=row.get("published"),
        modified=row.get("modified"),
        signature=(row.get("signature") or 0) % (1 << _SIGNATURE_BITS),
        quality=Quality(**(row.get("quality") or {})),
        problem=Reason(row["problem"]) if row.get("problem") else None,
        listed=tuple(ListedPage(**listed) for listed in row.get("listed") or ()),
    )
