"""Lists the generations of index and ranks: which are there, and which is live? On a fleet, the published ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from periplus.errors import CollectionError, DamagedFile, PeriplusError
from periplus.index.storage.shards import shard_count
from periplus.store.checksums import verified
from periplus.store.collection import Collection
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.generations import (
    INDEX_KIND,
    META,
    RANK_KIND,
    Generation,
    Generations,
    Kind,
    number_of,
    read_meta,
    stored_files,
)
from periplus.store.objects.open_store import open_store

_PATIENCE = 3.0  # seconds; a person waits for the list


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
    """Every complete generation in the folder, newest first; the index before the ranks."""
    return [*_newest_first(_listed(collection.index, INDEX_KIND)), *_newest_first(_listed(collection.ranks, RANK_KIND))]


def list_published(collection: Collection) -> list[ListedGeneration]:
    """The generations that the fleet can use: those of the object store; without one, those in the folder."""
    if not collection.storage:
        return list_generations(collection)
    index, ranks = (_published(collection.storage, *one) for one in (("index", INDEX_KIND), ("ranks", RANK_KIND)))
    return [*_newest_first(index), *_newest_first(ranks)]


def _newest_first(listed: Iterable[ListedGeneration]) -> list[ListedGeneration]:
    return sorted(listed, key=lambda one: -one.generation)


def _published(storage: str, folder: str, kind: Kind) -> Iterator[ListedGeneration]:
    """The generations in the object store of a fleet."""
    published = PublishedGenerations(open_store(storage, patience=_PATIENCE), folder, kind)
    live, changed = published.current(), {facts.name: facts.changed for facts in published.store.list(folder)}
    for one in published.generations():
        meta: dict[str, Any] = {}
        problem = ""
        try:
            meta = verified(published.meta(one))
        except (PeriplusError, ValueError) as error:
            problem = str(error)
        yield ListedGeneration(
            kind=folder,
            generation=one.number,
            published=changed.get(published.meta_name(one), 0.0),
            documents=_documents(meta),
            shards=max(shard_count(meta), 1),
            bytes=sum(file.size for file in stored_files(Path(), meta).values()) if meta else 0,
            format=meta.get("format"),
            live=live is not None and (live.name, live.digest) == (one.name, one.digest),
            problem=problem,
        )


def _documents(meta: dict[str, Any]) -> int | None:
    found: int | None = meta.get("documents", meta.get("figures", {}).get("nodes"))
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
        documents=_documents(meta),
        shards=max(shard_count(meta), 1),
        bytes=sum(path.stat().st_size for path in generation.rglob("*") if path.is_file()),
        format=meta.get("format"),
        live=is_live,
        problem=problem,
    )
