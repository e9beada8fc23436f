"""Lists the generations of index and ranks: which are there, and which is live?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from periplus.errors import CollectionError, DamagedFile
from periplus.index.shards import shards_of
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, META, RANK_KIND, Generation, Generations, Kind, number_of, read_meta


@dataclass(frozen=True, slots=True)
class ListedGeneration:
    """One generation, as `generations --json` prints it."""

    kind: str  # the folder: "index" or "ranks"
    generation: int
    published: float  # seconds since the epoch
    documents: int | None  # documents of an index, pages of ranks; None when meta.json cannot be read
    shards: int  # 1: the generation is not divided
    bytes: int
    format: int | None
    live: bool
    problem: str  # why this release cannot open it; empty when it can. Contents are not checked.


def list_generations(collection: Collection) -> list[ListedGeneration]:
    """Every complete generation, newest first; the index before the ranks."""
    found: list[ListedGeneration] = []
    for folder, kind in ((collection.index, INDEX_KIND), (collection.ranks, RANK_KIND)):
        found += sorted(_listed(folder, kind), key=lambda listed: -listed.generation)
    return found


def _listed(folder: Path, kind: Kind) -> Iterator[ListedGeneration]:
    generations = Generations(folder, kind)
    live = None
    with suppress(DamagedFile):  # CURRENT is damaged: no generation is live
        live = generations.live()
    for path in generations.complete():
        with suppress(FileNotFoundError):  # a writer has removed the generation meanwhile
            yield _described(path, kind, is_live=path == live)


def _described(generation: Path, kind: Kind, *, is_live: bool) -> ListedGeneration:
    meta: dict[str, Any] = {}
    problem = ""
    try:
        meta = read_meta(generation, kind)
        with closing(Generation(generation, kind)) as opened:
            opened.require_sizes()
    except CollectionError as error:
        problem = error.sentence
    return ListedGeneration(
        kind=generation.parent.name,
        generation=number_of(generation),
        published=(generation / META if meta else generation).stat().st_mtime,
        documents=meta.get("documents", meta.get("figures", {}).get("nodes")),
        shards=max(shards_of(meta), 1),
        bytes=sum(path.stat().st_size for path in generation.rglob("*") if path.is_file()),
        format=meta.get("format"),
        live=is_live,
        problem=problem,
    )
