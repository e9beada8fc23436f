"""Runs `periplus forget`: blocks a URL or a host, removes everything of it, and writes a receipt.

Blocking comes first, and everything that is blocked is removed. So a command that was killed is finished by running it
again, at whatever moment the kill came.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from periplus.config import Settings
from periplus.errors import CollectionLocked, UsageError
from periplus.forget.archives import damaged_copies, erase_kept_files, erase_records
from periplus.forget.caches import clear_caches, forget_judgements, forget_logs
from periplus.forget.generations import rebuild, remove_older
from periplus.forget.objects import delete_other_segments, require_stored_files
from periplus.forget.receipt import Receipt, begin, finish, note_generations, read_receipt, unfinished
from periplus.forget.segments import SegmentEraser, count_in_segments
from periplus.forget.target import Target, parse_target
from periplus.reparse import rename_planned
from periplus.standing.saved_queries import SavedQueries
from periplus.store.block_list import BlockList, new_block_list
from periplus.store.catalog.forget_catalog import ForgetCatalog
from periplus.store.catalog.open_catalog import block_list_of, open_catalog, require_sound, set_block_list
from periplus.store.cleanup import remove_replaced_archives, remove_unacknowledged, remove_unfinished
from periplus.store.collection import Collection, open_collection
from periplus.store.durable import reporting_full_disk, sync_directory
from periplus.store.fleet_files.job_files import bring_segments, store_segments
from periplus.store.generations import INDEX_KIND, RANK_KIND, Generations
from periplus.url import Canonicalizer, parse

_PATIENCE = 60.0  # seconds until readers have left old segments
_PAUSE = 0.1  # seconds between two attempts
_LISTED = 20  # URLs with the same content that the result names

OnStep = Callable[[str], None]  # called with a sentence about the next step


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was, or would be, forgotten."""

    target: Target
    receipt: Receipt
    file: Path | None  # of the receipt; None in a dry run
    same_content: list[str]  # the first other URLs with the same bytes, which stay
    in_settings: list[str]  # values of `scope.seeds` that name it

    def report(self) -> dict[str, Any]:
        """The object that `forget --json` prints; without names, but for URLs that stay."""
        return {
            "dry_run": self.file is None,
            "receipt": str(self.file) if self.file else None,
            "kind": self.receipt.kind,
            "hash": self.receipt.hash,
            "at": self.receipt.at,
            "removed": self.receipt.removed,
            "kept_bodies": self.receipt.kept_bodies,
            "same_content": self.receipt.same_content,
            "same_content_urls": self.same_content,
            "generations": self.receipt.generations,
            "in_settings": self.in_settings,
        }


def forget(
    home: Path, settings: Settings, raw: str, *, dry_run: bool = False, on_step: OnStep = lambda _: None
) -> Forgotten:
    """Forget a URL or a host, or only say what would be removed; no other process may write the collection."""
    collection, target = open_collection(home), parse_target(raw, Canonicalizer.of(settings.addresses))
    with collection.locked(alone=True), collection.building("forget", alone=True):
        require_sound(collection)
        require_stored_files(collection)
        blocked = block_list_of(collection)
        blocked = blocked if blocked.key else new_block_list()
        found = _planned(collection, settings, target, blocked, on_step)
        if dry_run:
            return found
        set_block_list(collection, blocked.extended(found.receipt.entry))
        path = begin(collection, found.receipt)
        finished = _purge(collection, settings, on_step, is_needed=bool(found.receipt.removed), everywhere=False)
    file, receipt = finished[path]
    return Forgotten(target, receipt, file, found.same_content, found.in_settings)


def forget_again(home: Path, settings: Settings, on_step: OnStep = lambda _: None) -> None:
    """Remove what is on the block list and has come back with restored files; reads the whole archive."""
    collection = open_collection(home)
    with collection.locked(alone=True), collection.building("forget", alone=True):
        require_sound(collection)
        if not block_list_of(collection):
            raise UsageError("nothing was forgotten", "the block list is empty")
        require_stored_files(collection)
        _purge(collection, settings, on_step, is_needed=True, everywhere=True)


def allow(home: Path, settings: Settings, raw: str) -> Target:
    """Lift the block of a URL or a host."""
    collection, target = open_collection(home), parse_target(raw, Canonicalizer.of(settings.addresses))
    with collection.locked(alone=True):
        blocked = block_list_of(collection)
        entry = target.entry(blocked) if blocked else None
        if entry not in blocked.entries:
            raise UsageError(f"{target.name} is not blocked", f"no {target.kind} of this name was forgotten")
        if (collection.forgotten / f"unfinished-{entry.hash}.json").exists():
            hint = "Run `periplus forget` with it again, then lift the block."
            raise UsageError(f"{target.name} is not forgotten completely", "the command was interrupted", hint)
        set_block_list(collection, blocked.without(entry))
    return target


# -- the plan ----------------------------------------------------------------------------------------------------------


def _planned(
    collection: Collection, settings: Settings, target: Target, blocked: BlockList, on_step: OnStep
) -> Forgotten:
    """Count what there is of a target."""
    on_step("counting what is there")
    entry = target.entry(blocked)
    only = blocked.only(entry)
    with closing(open_catalog(collection, partial(ForgetCatalog, blocked=only))) as catalog:
        removed = _count(collection, catalog, only)
        same, kept = catalog.same_content(), len(catalog.kept_positions())
    canonicalizer = Canonicalizer.of(settings.addresses)
    named = [seed for seed in settings.scope.seeds if target.covers(parse(seed, canonicalizer).text)]
    receipt = Receipt(*entry, blocked.key.hex(), time.time(), dict(removed), kept, len(same))
    return Forgotten(target, receipt, None, sorted(same)[:_LISTED], named)


def _count(collection: Collection, catalog: ForgetCatalog, only: BlockList) -> Counter[str]:
    positions = catalog.positions()
    bring_segments(collection, catalog.segments())
    with collection.reading_segments():
        removed = catalog.count() + count_in_segments(collection, catalog, only)
    removed["archive_records"] = len(positions)
    removed["archive_bytes"] = sum(position.length for position in positions)
    removed["judgements"] = forget_judgements(collection, only, dry_run=True)
    removed["kept_files"] = len(damaged_copies(collection)) if removed.total() else 0
    return +removed


# -- the work ----------------------------------------------------------------------------------------------------------


def _purge(
    collection: Collection, settings: Settings, on_step: OnStep, *, is_needed: bool, everywhere: bool
) -> dict[Path, tuple[Path, Receipt]]:
    """Remove everything that is blocked; returns the receipts by the path of their unfinished ones.

    *is_needed*: something was found. A kill may have come before ranks and index were built anew.
    """
    begun, blocked = unfinished(collection), block_list_of(collection)
    earlier = [receipt for receipt in map(read_receipt, begun) if receipt.removed]
    with reporting_full_disk(collection.home):
        if is_needed or not all(receipt.is_built for receipt in earlier):
            _purge_crawled(collection, blocked, on_step, everywhere=everywhere)
            forget_judgements(collection, blocked)
            forget_logs(collection, blocked)
            generations = rebuild(collection, settings, on_step)
            note_generations(begun, generations)
        else:
            generations = earlier[-1].generations if earlier else {}
        if is_needed or earlier:
            on_step("removing old generations and caches")
            remove_older(collection, generations)
            clear_caches(collection, settings, blocked)
    return {path: finish(collection, path) for path in begun}


def _purge_crawled(collection: Collection, blocked: BlockList, on_step: OnStep, *, everywhere: bool) -> None:
    """Remove what is blocked from archive, segments and catalog."""
    with ExitStack() as stack:
        require_held = stack.enter_context(collection.locked("reparse"))
        for generations in (Generations(collection.ranks, RANK_KIND), Generations(collection.index, INDEX_KIND)):
            stack.enter_context(generations.held())  # nobody builds from the old segments meanwhile
        catalog = stack.enter_context(closing(open_catalog(collection, partial(ForgetCatalog, blocked=blocked))))
        catalog.guard(require_held)
        remove_unfinished(collection)
        remove_unacknowledged(collection, catalog)
        remove_replaced_archives(collection, catalog)
        on_step("overwriting archive records")
        erase_records(collection, catalog, blocked, everywhere=everywhere)
        erase_kept_files(collection, blocked)
        on_step("writing segments without forgotten rows")
        bring_segments(collection, catalog.segments())
        successors = list(SegmentEraser(blocked).successors(collection, catalog))
        store_segments(collection, [new for _, new in successors])
        rename_planned(collection, {old: new.name for old, new in successors})
        SavedQueries(collection).forget(catalog.forgotten_urls())
        on_step("rewriting the catalog")
        catalog.purge(successors)
        on_step("removing old segments")
        _remove_replaced(collection, catalog)
        delete_other_segments(collection, catalog.segments())


def _remove_replaced(collection: Collection, catalog: ForgetCatalog) -> None:
    """Remove the files of replaced segments; waits until no process reads them."""
    listed, deadline = {segment.name for segment in catalog.segments()}, time.monotonic() + _PATIENCE
    left = [path for path in collection.segments.glob("*.parquet") if path.name not in listed]
    while left:
        with collection.without_segment_readers() as is_unused:
            if is_unused:
                for path in left:
                    path.unlink()
                sync_directory(collection.segments)
                return
        if time.monotonic() > deadline:
            hint = "Stop it, and run the same command again."
            raise CollectionLocked(f"{collection.segments} is in use", f"a process is reading {left[0].name}", hint)
        time.sleep(_PAUSE)
