"""Lets a job that builds a generation begin with the one of the fleet, and publishes the result for the fleet.

Also rolls back for the whole fleet. On one machine, without an object store, only the folder is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from periplus.errors import CollectionLocked, ObjectChanged, PeriplusError, StorageError
from periplus.store.collection import Collection
from periplus.store.fleet_files.generation_cache import GenerationCache
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.generations import INDEX_KIND, RANK_KIND, Generations, Kind, number_of, remove_generation
from periplus.store.objects.open_store import open_store

KINDS = {"ranks": RANK_KIND, "index": INDEX_KIND}  # by the name of the folder
_EVERYTHING = 1 << 62  # bytes; the job itself removes old generations
_PATIENCE = 3.0  # seconds; the reader of a command waits


@contextmanager
def sharing_ranks(collection: Collection, keep: int) -> Iterator[None]:
    """Bring the live ranks of the fleet, and publish what the block makes live."""
    with _sharing(collection, collection.ranks, "ranks", RANK_KIND, keep):
        yield


@contextmanager
def sharing_index(collection: Collection, keep: int) -> Iterator[None]:
    """Bring the live index of the fleet, and publish what the block makes live."""
    with _sharing(collection, collection.index, "index", INDEX_KIND, keep):
        yield


def roll_back(collection: Collection, name: str, number: int | None = None) -> int:
    """Make an earlier generation live, after a check of every byte; all nodes of a fleet follow. Returns its number.

    *name*: `ranks` or `index`. *number*: None means the last one before the live one.
    """
    folder, kind = collection.home / name, KINDS[name]
    generations = Generations(folder, kind)
    if not collection.storage:
        return number_of(generations.roll_back(number))
    published = PublishedGenerations(open_store(collection.storage), name, kind)
    with collection.building(kind.command):
        base = published.current()
        target = published.find(number, base)
        cache = GenerationCache(folder, published, _EVERYTHING)
        try:
            cache.bring(target)
            generations.roll_back(target.number)
            published.make_live(target, base)
        except PeriplusError:
            if base is not None:
                cache.bring(base)
            raise
    return target.number


def bring_to_read(collection: Collection, name: str, announce: Callable[[str], None]) -> None:
    """Bring the live generation of the fleet for a command that only reads it; *name*: `ranks` or `index`.

    When that is not possible, the generation of this node is used, and *announce* gets the reason.
    """
    if not collection.storage:
        return
    published = PublishedGenerations(open_store(collection.storage, patience=_PATIENCE), name, KINDS[name])
    cache = GenerationCache(collection.home / name, published, _EVERYTHING)
    try:
        current = published.current()
        if current is not None and not cache.is_live(current):
            announce(f"Downloading generation {current.number} of the {name} from {published.store.url}")
            cache.bring(current)
    except (StorageError, CollectionLocked) as error:
        if Generations(collection.home / name, KINDS[name]).live() is None:
            raise
        announce(f"Using the generation of this node: {error}")


def bring_ranks(collection: Collection) -> None:
    """Bring the live ranks of the fleet, for a job that reads them."""
    with _sharing(collection, collection.ranks, "ranks", RANK_KIND, 0):
        pass


@contextmanager
def _sharing(collection: Collection, folder: Path, name: str, kind: Kind, keep: int) -> Iterator[None]:
    with (
        collection.building(kind.command) as require_held,
        _published(collection, folder, name, kind, keep, require_held),
    ):
        yield


@contextmanager
def _published(
    collection: Collection, folder: Path, name: str, kind: Kind, keep: int, require_held: Callable[[], None]
) -> Iterator[None]:
    if not collection.storage:
        yield
        return
    published, generations = PublishedGenerations(open_store(collection.storage), name, kind), Generations(folder, kind)
    base = published.current()
    if base is not None:
        cache = GenerationCache(folder, published, _EVERYTHING)
        if not cache.is_live(base):
            cache.bring(base)
    before = generations.live()
    yield
    after = generations.live()
    if after is None or after == before:
        return
    try:
        published.publish(after, base, keep, require_held)
    except (ObjectChanged, CollectionLocked):
        _withdraw(generations, after, before)
        raise


def _withdraw(generations: Generations, lost: Path, before: Path | None) -> None:
    """Make the earlier generation live again, so that the one of the fleet can take the place of the lost one."""
    if before is not None:
        with generations.held():
            generations.make_live(before)
            remove_generation(lost)
