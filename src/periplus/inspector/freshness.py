"""Are the ranks and the index up to date, and which command should the user run next?"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

from pyarrow import ArrowException, parquet

from periplus.inspector.generation_list import ListedGeneration, list_generations
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection


def generation_states(collection: Collection, catalog: Queries) -> dict[str, dict[str, Any] | None]:
    """The live index and ranks, each with the number of pages fetched later; None where there is none."""
    live = {one.kind: one for one in list_generations(collection) if one.live}
    return {name: _state(collection, catalog, live.get(name)) for name in ("index", "ranks")}


def _state(collection: Collection, catalog: Queries, live: ListedGeneration | None) -> dict[str, Any] | None:
    if live is None:
        return None
    return {
        "generation": live.generation,
        "pages": live.documents,
        "built": live.published,
        "newer_pages": _pages_after(collection, catalog, live.published),
        "problem": live.problem,
    }


def _pages_after(collection: Collection, catalog: Queries, at: float) -> int:
    """The pages in segments that were fetched after a time; at most 255 too many per segment."""
    newer = 0
    for segment in catalog.segments("pages"):
        with suppress(OSError, ArrowException):  # a compaction has removed the file meanwhile, or it is damaged
            newer += _newer_rows(collection.segments / segment.name, at)
    return newer


def _newer_rows(path: Path, at: float) -> int:
    """The rows in row groups that have a page fetched after a time."""
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    column = metadata.schema.names.index("fetched_at")
    return sum(group.num_rows for group in groups if group.column(column).statistics.max > at)


def next_command(status: dict[str, Any]) -> str:
    """What to run next, as a sentence; *status* is the object of `periplus status`."""
    index, ranks = status["index"], status["ranks"]
    if not status["urls"]["fetched"]:
        return "`periplus crawl URL` fetches pages."
    for state, kind in ((ranks, "rank"), (index, "index")):
        if state is not None and state["problem"]:
            return f"`periplus {kind}` writes a new generation: {state['problem']}."
    if index is None:
        return "`periplus index` makes the pages searchable." if ranks else "`periplus rank`, then `periplus index`."
    if index["newer_pages"]:
        return f"`periplus index` adds {_pages(index['newer_pages'])} to the search."
    if status["urls"]["queued"]:
        return "`periplus crawl` continues with the queue; `periplus serve` starts the search site."
    return "`periplus serve` starts the search site."


def _pages(count: int) -> str:
    return f"{count:,} page" if count == 1 else f"{count:,} pages"
