"""Exports selected pages of a collection to one WARC file.

The records are copied from the archive byte by byte.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from collections.abc import Collection as Several
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from isal import isal_zlib

from periplus.config import Settings
from periplus.errors import DamagedFile, ObjectMissing, UsageError
from periplus.model import ArchivePosition, Fetch
from periplus.search.engine import SearchEngine
from periplus.store.archive.archive_lookup import current_position, stored_member
from periplus.store.archive.warc import warcinfo
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import Collection
from periplus.store.durable import move_into_place, reporting_full_disk
from periplus.url import host_of

_GZIP = 31  # zlib's window bits that mean "with a gzip header"
_RESULTS_PER_PAGE = 100
_MOST_RESULTS = 1_000  # of a query

OnProgress = Callable[[int, int], None]  # called with the pages written and the pages in total


@dataclass(frozen=True, slots=True)
class Selection:
    """The filters of an export; an empty filter selects everything."""

    hosts: Several[str] = ()  # including their subdomains
    after: float | None = None  # fetched at this time or later; seconds since the epoch
    before: float | None = None  # fetched before this time; seconds since the epoch
    query: str = ""  # the first 1,000 results of this query
    latest: bool = False  # only the newest version of each page


@dataclass(frozen=True, slots=True)
class Exported:
    """What `export --json` prints."""

    file: str
    pages: int
    bytes: int  # of the file


def export_archive(
    collection: Collection,
    settings: Settings,
    selection: Selection,
    file: Path,
    on_progress: OnProgress = lambda _done, _total: None,
) -> Exported:
    """Write the selected pages into a new WARC file; the file appears only when it is complete."""
    if file.exists():
        raise UsageError(f"{file} already exists", "export overwrites no file", "Choose another file name.")
    chosen = _chosen(collection, settings, selection)
    part = file.with_name(file.name + ".part")
    try:
        with reporting_full_disk(file.absolute().parent):
            _write(collection, chosen, part, on_progress)
            move_into_place(part, file)
    except FileNotFoundError as error:
        raise UsageError(f"{file} cannot be written", error.strerror or "", "Create its folder first.") from error
    finally:
        part.unlink(missing_ok=True)
    return Exported(str(file), len(chosen), file.stat().st_size)


def _chosen(collection: Collection, settings: Settings, selection: Selection) -> list[Fetch]:
    found = _found(collection, settings, selection.query) if selection.query else None
    with closing(open_catalog(collection)) as catalog:
        versions = [fetch for fetch in _versions(catalog, selection) if found is None or fetch.url in found]
    if selection.latest:
        newest = {fetch.url: fetch for fetch in sorted(versions, key=lambda fetch: fetch.at)}
        versions = [fetch for fetch in versions if newest[fetch.url] is fetch]
    return versions


def _found(collection: Collection, settings: Settings, query: str) -> set[str]:
    """The URLs of the first results of a query."""
    urls: set[str] = set()
    with closing(SearchEngine.open(collection, settings)) as engine:
        for page in range(1, _MOST_RESULTS // _RESULTS_PER_PAGE + 1):
            hits = engine.search(query, page=page, size=_RESULTS_PER_PAGE).hits
            urls.update(hit.url for hit in hits)
            if len(hits) < _RESULTS_PER_PAGE:
                break
    return urls


def _versions(catalog: Catalog, selection: Selection) -> Iterator[Fetch]:
    """The selected versions of all pages, in archive order."""
    hosts = tuple(host.lower() for host in selection.hosts)
    below = tuple(f".{host}" for host in hosts)
    for file in catalog.archives():
        for fetch in catalog.fetches_in(file.archive_id):
            if not fetch.is_version or not _is_in_time(fetch.at, selection):
                continue
            host = host_of(fetch.url)
            if not hosts or host in hosts or host.endswith(below):
                yield fetch


def _is_in_time(at: float, selection: Selection) -> bool:
    since = selection.after is None or at >= selection.after
    return since and (selection.before is None or at < selection.before)


def _write(collection: Collection, chosen: list[Fetch], part: Path, on_progress: OnProgress) -> None:
    with part.open("wb") as out:
        out.write(isal_zlib.compress(warcinfo(part.name.removesuffix(".part")), 2, _GZIP))
        for done, fetch in enumerate(chosen):
            out.write(_record(collection, fetch))
            on_progress(done, len(chosen))


def _record(collection: Collection, fetch: Fetch) -> bytes:
    """The record of a version; empty when `periplus prune` has removed it meanwhile."""
    position = fetch.position
    while position is not None:
        try:
            return _member(collection, position)
        except (DamagedFile, ObjectMissing):
            now = current_position(collection, fetch.url, fetch.at)
            if now == position:
                raise
            position = now
    return b""


def _member(collection: Collection, position: ArchivePosition) -> bytes:
    path, member = collection.archive / position.name, stored_member(collection, position)
    try:
        if member is None:
            with path.open("rb") as handle:
                member = os.pread(handle.fileno(), position.length, position.offset)
    except OSError as error:
        raise DamagedFile(f"{path} cannot be read", error.strerror or str(error)) from error
    if len(member) < position.length:
        raise DamagedFile(f"{path} is shorter than its acknowledged size")
    return member
