"""Verifies a collection: catalog, archive, segments, ranks and index must be undamaged and agree."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Set
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import parquet

from periplus.errors import DamagedFile, ObjectMissing
from periplus.model import ArchivePosition, Fetch, Reason
from periplus.store.archive.warc_files import Record, parse_archive_name, read_response, responses
from periplus.store.catalog.batch import ArchiveFile
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.open_catalog import block_list_of, open_catalog
from periplus.store.checksums import has_digest
from periplus.store.collection import Collection
from periplus.store.fleet_files.job_files import borrowing_archives, bring_segments
from periplus.store.fleet_files.unstored_files import UnstoredFile, unstored_files
from periplus.store.generations import INDEX_KIND, RANK_KIND, Generations, Kind
from periplus.store.manifest import SealedSegment
from periplus.store.segments.schema import SCHEMA_VERSION, schema_version
from periplus.url import url_key

_REVISITS = frozenset({Reason.SAME_CONTENT, Reason.NOT_MODIFIED})
_REPORTED = 10  # problems of the same kind per file


class Problem(NamedTuple):
    """One problem in one file."""

    where: str  # the file, relative to the collection
    what: str


@dataclass(slots=True)
class Findings:
    """The numbers of checked items, and the problems found."""

    checked: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    waiting: list[UnstoredFile] = field(default_factory=list)  # files that are on other nodes, and were not checked

    def report(self) -> dict[str, Any]:
        """The JSON object of `verify`."""
        problems = [problem._asdict() for problem in self.problems]
        waiting = [file._asdict() for file in self.waiting]
        return {"ok": not problems, "checked": dict(self.checked), "problems": problems, "waiting": waiting}


def verify(collection: Collection) -> Findings:
    """Checks everything; no crawl may be running."""
    findings = Findings()
    with collection.reading_segments():
        _verify_crawled(collection, findings)
    findings.problems += _block_list_problems(collection)
    findings.problems += _generation_problems(collection.ranks, RANK_KIND, findings.checked)
    findings.problems += _generation_problems(collection.index, INDEX_KIND, findings.checked)
    return findings


def _block_list_problems(collection: Collection) -> Iterator[Problem]:
    try:
        block_list_of(collection)
    except DamagedFile as error:
        yield Problem("forgotten/blocked.json", f"{error.why}. {error.hint}")


def _verify_crawled(collection: Collection, findings: Findings) -> None:
    try:
        catalog = open_catalog(collection)
    except DamagedFile as error:
        findings.problems.append(Problem(collection.catalog.name, f"{error.what}: {error.why}"))
        return
    try:
        findings.problems += _catalog_problems(catalog, catalog_name(collection, catalog))
        if not findings.problems:
            waiting = unstored_files(collection)
            elsewhere = {file.name for file in waiting if not file.is_in(collection)}
            findings.waiting += [file for file in waiting if file.name in elsewhere]
            for file in catalog.archives():
                if file.name in elsewhere:
                    continue
                with _brought(collection, file):
                    findings.problems += _archive_problems(collection, catalog, file, findings.checked)
            with suppress(ObjectMissing, DamagedFile):  # a missing file is a problem of its own
                bring_segments(collection, catalog.segments())
            sealing = {file.worker for file in waiting if not file.is_archive}
            findings.problems += _segment_problems(collection, catalog, findings.checked, sealing)
            findings.checked.update(urls=catalog.counters()["known"])
    finally:
        catalog.close()


@contextmanager
def _brought(collection: Collection, file: ArchiveFile) -> Iterator[None]:
    """Have an archive file in the folder during the block, if the object store has it."""
    with ExitStack() as stack:
        with suppress(ObjectMissing, DamagedFile):  # a missing file is a problem of its own
            stack.enter_context(borrowing_archives(collection, [file]))
        yield


def catalog_name(collection: Collection, catalog: Catalog) -> str:
    """The name of the catalog in a problem: `crawl.db`, or the address of a database."""
    return catalog.place if collection.database else collection.catalog.name


def _catalog_problems(catalog: Catalog, where: str) -> Iterator[Problem]:
    damage = catalog.check()
    for line in damage:
        yield Problem(where, f"SQLite reports damage: {line}")
    if damage:
        return
    kept, counted = catalog.counters(), catalog.recount()
    for name, number in counted.items():
        if kept[name] != number:
            yield Problem(where, f"the counter {name!r} says {kept[name]}, a recount {number}")
    for host, state, noted, number in catalog.miscounted_hosts():
        name = f"counter of {state} URLs" if state else "URL counter"
        yield Problem(where, f"the {name} of {host} says {noted}, a recount {number}")
    for reason, status, noted, number in catalog.miscounted_outcomes():
        yield Problem(where, f"the counter of URLs with {reason} {status} says {noted}, a recount {number}")
    seen = set().union(*(keys.tolist() for keys, _ in catalog.seen_keys()))
    for url in islice((url for url in catalog.known_urls() if url_key(url) not in seen), 10):
        yield Problem(where, f"{url} is missing from the set of seen URLs and could be fetched twice")


# -- the archive ------------------------------------------------------------------------------------------------


def _archive_problems(
    collection: Collection, catalog: Catalog, file: ArchiveFile, checked: Counter[str]
) -> Iterator[Problem]:
    where = f"archive/{file.name}"
    path = collection.archive / file.name
    if not path.exists():
        yield Problem(where, "the file is missing")
        return
    size = path.stat().st_size
    if size < file.committed:
        yield Problem(where, f"{size} bytes, but {file.committed} were committed")
        return
    try:
        yield from _record_problems(collection.archive, catalog, file, checked)
    except (OSError, ValueError) as error:
        yield Problem(where, f"not readable as WARC: {error}")
        yield from islice(_unreadable(collection.archive, catalog, file), _REPORTED)


def _record_problems(folder: Path, catalog: Catalog, file: ArchiveFile, checked: Counter[str]) -> Iterator[Problem]:
    where = f"archive/{file.name}"
    expected = {fetch.position.offset: fetch for fetch in catalog.fetches_in(file.archive_id) if fetch.position}
    for record in responses(folder, file.name, 0, file.committed):
        checked["records"] += 1
        offset, url = record.position.offset, record.response.url
        fetch = expected.pop(offset, None)
        if fetch is None:
            yield Problem(where, f"the response at {offset} ({url}) is not in the catalog")
        elif not record.is_sound:
            yield Problem(where, f"the payload at {offset} ({url}) does not match its digest")
        elif differs := difference(fetch, record):
            yield Problem(where, f"at {offset}: {differs}")
    for offset, fetch in list(expected.items())[:_REPORTED]:
        yield Problem(where, f"no readable response at {offset}, where {fetch.url} should be")


def _unreadable(folder: Path, catalog: Catalog, file: ArchiveFile) -> Iterator[Problem]:
    """Reads each record by itself and reports the damaged ones."""
    for fetch in catalog.fetches_in(file.archive_id):
        if fetch.position is not None and not _is_readable(folder, fetch.position):
            yield Problem(
                f"archive/{file.name}", f"no readable response at {fetch.position.offset}, where {fetch.url} should be"
            )


def _is_readable(folder: Path, position: ArchivePosition) -> bool:
    try:
        read_response(folder, position)
    except DamagedFile:
        return False
    return True


def difference(fetch: Fetch, record: Record) -> str:
    """How an archive record differs from its row in the catalog; empty when it does not."""
    length, response = record.position.length, record.response
    if fetch.url != response.url:
        return f"the archive has {response.url}, the catalog says {fetch.url}"
    if fetch.status != response.status:
        return f"status {response.status}, the catalog says {fetch.status}"
    assert fetch.position is not None
    if fetch.position.length != length:
        return f"{length} bytes long, the catalog says {fetch.position.length}"
    if bool(record.revisits) != (fetch.decision.reason in _REVISITS):
        return f"a {'revisit' if record.revisits else 'response'}, the catalog says {fetch.decision.reason}"
    if record.revisits:
        return "" if record.revisits == fetch.content_id else "it refers to another payload than the catalog"
    if fetch.size != len(response.body):
        return f"a payload of {len(response.body)} bytes, the catalog says {fetch.size}"
    if fetch.content_id and fetch.content_id != hashlib.sha256(response.body).digest():
        return "the payload is not the one that the catalog names"
    return ""


# -- the segments -----------------------------------------------------------------------------------------------


def _segment_problems(
    collection: Collection, catalog: Catalog, checked: Counter[str], sealing: Set[int]
) -> Iterator[Problem]:
    """*sealing*: workers with segments that are not uploaded, which readers do not see."""
    pages: Counter[tuple[str, int]] = Counter()
    for segment in catalog.segments():
        where = f"segments/{segment.name}"
        try:
            table_problems = list(file_problems(collection.segments / segment.name, segment))
            yield from (Problem(where, what) for what in table_problems)
            if segment.kind == "pages" and not table_problems:
                pages.update(positions_in(collection.segments / segment.name))
        except (OSError, pa.ArrowException) as error:
            yield Problem(where, f"not readable as Parquet: {error}")
        checked["segments"] += 1
    checked["pages"] = pages.total()
    yield from _coverage_problems(catalog, pages, sealing)


def file_problems(path: Path, segment: SealedSegment) -> Iterator[str]:
    """What is wrong with the file of a segment."""
    if not path.exists():
        yield "the file is missing"
    elif path.stat().st_size != segment.size:
        yield f"{path.stat().st_size} bytes, the manifest says {segment.size}"
    elif not has_digest(path, segment.digest):
        yield "the content does not match its checksum"
    else:
        found = parquet.read_metadata(path)
        if found.num_rows != segment.rows:
            yield f"{found.num_rows} rows, the manifest says {segment.rows}"
        stated = schema_version(path)
        if stated is None or stated[0] != segment.kind or not 1 <= stated[1] <= SCHEMA_VERSION:
            yield f"schema {stated}, expected {segment.kind!r} of a version up to {SCHEMA_VERSION}"


def positions_in(path: Path) -> Iterator[tuple[str, int]]:
    """The archive file and offset of each page of a segment."""
    table = parquet.read_table(path, columns=["archive", "offset"])
    return zip(table["archive"].to_pylist(), table["offset"].to_pylist(), strict=True)


def _coverage_problems(catalog: Catalog, pages: Counter[tuple[str, int]], sealing: Set[int]) -> Iterator[Problem]:
    for file in catalog.archives():
        is_sealing = parse_archive_name(file.name)[0] in sealing
        for fetch in catalog.fetches_in(file.archive_id):
            position = fetch.position
            if position is None or not fetch.is_version or position.offset >= file.sealed:
                continue
            times = pages.pop((position.name, position.offset), 0)
            if times != 1 and not (is_sealing and times == 0):
                yield Problem(
                    "segments", f"{fetch.url} fetched at {fetch.at:.0f} is in {times} segments instead of one"
                )
    for (name, offset), _ in pages.most_common(10):
        yield Problem("segments", f"a page refers to {name} at {offset}, where the catalog has no page")


# -- ranks and index --------------------------------------------------------------------------------------------


def _generation_problems(folder: Path, kind: Kind, checked: Counter[str]) -> Iterator[Problem]:
    generations = Generations(folder, kind)
    if generations.complete():
        checked["generations"] += 1
    for name, what in generations.damage():
        yield Problem(f"{folder.name}/{name}", what)
