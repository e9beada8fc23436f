"""Keys of lists that are sorted by time, newest first: the last row of a page is the key of the next page."""

from __future__ import annotations

from typing import Any

from periplus.errors import UsageError
from periplus.store.catalog.listings import FIRST


def time_key(text: str) -> tuple[float, str]:
    """The time and text before which a page begins; the first page without a key."""
    if not text:
        return FIRST
    figure, _, rest = text.partition(":")
    try:
        return float(figure), rest
    except ValueError:
        raise UsageError("this is not the key of a page", hint="Use the link to the next page.") from None


def page_of(rows: list[dict[str, Any]], most: int, time_field: str) -> tuple[list[dict[str, Any]], str | None]:
    """The rows of a page, of which one more was read, and the key of the next page."""
    if len(rows) <= most:
        return rows, None
    last = rows[most - 1]
    return rows[:most], f"{last[time_field]!r}:{last['url']}"
