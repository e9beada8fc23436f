"""The folder of a collection: its paths, its format version and its locks."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from periplus import __version__
from periplus.config import FILE_NAME as CONFIGURATION_FILE
from periplus.errors import CollectionError, CollectionLocked, DamagedFile, NewerFormat, NoCollection
from periplus.store.checksums import verified, with_checksums
from periplus.store.durable import reporting_full_disk, write_file

FORMAT = 1
_MARKER = "collection.json"
_ALLOWED_BEFORE = frozenset({CONFIGURATION_FILE, "crawl.lock", _MARKER + ".tmp", "lost+found"})


@dataclass(frozen=True, slots=True)
class Collection:
    """The folder of a collection whose format this release supports."""

    home: Path

    @property
    def catalog(self) -> Path:
        """The SQLite database: frontier, hosts, URL history."""
        return self.home / "crawl.db"

    @property
    def archive(self) -> Path:
        """The folder of WARC files."""
        return self.home / "archive"

    @property
    def segments(self) -> Path:
        """The folder of Parquet files."""
        return self.home / "segments"

    @property
    def ranks(self) -> Path:
        """The folder of rank generations."""
        return self.home / "ranks"

    @property
    def index(self) -> Path:
        """The folder of index generations."""
        return self.home / "index"

    @property
    def result_cache(self) -> Path:
        """The SQLite database with results of searches; it may be deleted at any time."""
        return self.home / "cache" / "results.db"

    @property
    def query_log(self) -> Path:
        """The SQLite database with queries that were searched on several days; it may be deleted at any time."""
        return self.home / "cache" / "queries.db"

    @property
    def logins(self) -> Path:
        """The file with recent attempts to log in to the console, and ended sessions; see `site/access`."""
        return self.home / "cache" / "logins.json"

    @property
    def judgements(self) -> Path:
        """The folder of the results that the owner judged on the site."""
        return self.home / "judgements"

    @property
    def reparse_plan(self) -> Path:
        """The file with the segments of an unfinished `reparse --everything`."""
        return self.home / "reparse.json"

    @contextmanager
    def locked(self, job: str = "crawl") -> Iterator[None]:
        """Lock the collection for one kind of writing; a second writer gets an error that names the first."""
        with self._lock_file(job) as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                handle.seek(0)
                owner = handle.read(20).strip() or "unknown"
                raise CollectionLocked(
                    f"{self.home} is in use", f"process {owner} is writing it", "Wait for it to end, or stop it."
                ) from None
            with reporting_full_disk(self.home):
                os.ftruncate(handle.fileno(), 0)
                os.write(handle.fileno(), str(os.getpid()).encode())
            yield

    @contextmanager
    def reading_segments(self) -> Iterator[None]:
        """Keep the files of replaced segments during the block; begin it before the manifest is read."""
        try:
            handle = self._lock_file("segments")
        except CollectionError:  # a folder that cannot be written: no process replaces its segments
            yield
            return
        with handle:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield

    @contextmanager
    def without_segment_readers(self) -> Iterator[bool]:
        """Whether no process reads segments now; if so, none begins to during the block."""
        with self._lock_file("segments") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield False
            else:
                yield True

    def in_use(self) -> bool:
        """Whether a crawl is writing the collection."""
        try:
            with (self.home / "crawl.lock").open("rb") as handle:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            pass  # there is no lock file, or it cannot be read
        return False

    def _lock_file(self, job: str) -> TextIO:
        path = self.home / f"{job}.lock"
        try:
            with reporting_full_disk(self.home):
                return path.open("a+", encoding="utf-8", errors="replace")
        except OSError as error:
            raise CollectionError(f"{path} cannot be written", error.strerror or str(error)) from error


def open_collection(home: Path) -> Collection:
    """Open the collection in *home*, which must exist."""
    marker = home / _MARKER
    try:
        text = marker.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        _require_no_pages(Collection(home))
        raise NoCollection(
            f"{home} holds no collection",
            hint="`periplus crawl URL` makes one; --home names another folder.",
        ) from None
    except OSError as error:
        raise CollectionError(f"{marker} cannot be read", error.strerror or str(error)) from error
    _require_known_format(marker, text)
    return Collection(home)


def create_collection(home: Path) -> Collection:
    """Open the collection in *home*; create it if the folder is new or empty."""
    try:
        with reporting_full_disk(home):
            home.mkdir(parents=True, exist_ok=True)
            present = {entry.name for entry in home.iterdir()}
            if _MARKER not in present:
                _require_no_pages(Collection(home))
                _require_empty(home, present)
                _create_layout(home)
    except (FileExistsError, NotADirectoryError):
        raise CollectionError(f"{home} is not a folder", hint="Choose another folder with --home.") from None
    except OSError as error:
        raise CollectionError(
            f"{home} cannot be used", error.strerror or str(error), "Choose another folder with --home."
        ) from error
    collection = open_collection(home)
    _require_catalog(collection)
    return collection


def _create_layout(home: Path) -> None:
    for name in ("archive", "segments"):
        (home / name).mkdir(exist_ok=True)
    write_marker(home)


def write_marker(home: Path) -> None:
    """Write the file that makes a folder a collection."""
    content = {"format": FORMAT, "made_by": f"periplus {__version__}"}
    write_file(home / _MARKER, with_checksums(content) + b"\n")


def _require_catalog(collection: Collection) -> None:
    """Refuse an archive without its catalog: all its bytes would be unacknowledged, and be cut off."""
    catalog = collection.catalog
    if catalog.exists() and catalog.stat().st_size:
        return
    if any(file.stat().st_size for file in collection.archive.glob("*")):
        raise DamagedFile(
            f"{catalog} is missing or empty",
            f"but {collection.archive} has pages",
        )


def _require_no_pages(collection: Collection) -> None:
    """Refuse a folder that has a catalog or an archive, but has lost its marker."""
    if collection.catalog.exists() or any(collection.archive.glob("*.warc.gz")):
        raise DamagedFile(f"{collection.home / _MARKER} is missing", "the folder has the files of a collection")


def _require_empty(home: Path, present: set[str]) -> None:
    # A kill between creating the first folders and the marker leaves empty folders, which are used again.
    unexpected = {name for name in present - _ALLOWED_BEFORE if not _is_empty_folder(home / name)}
    if unexpected:
        raise NoCollection(
            f"{home} is neither empty nor a collection",
            f"it holds {min(unexpected)!r}",
            "Name a new folder with --home; nothing was changed here.",
        )


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _require_known_format(marker: Path, text: bytes) -> None:
    try:
        content = json.loads(text)
        found = (verified(text.strip()) if "digest" in content else content)["format"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, int) or found < 1:
        raise DamagedFile(
            f"{marker} is damaged",
            "it does not state a format",
        )
    if found > FORMAT:
        raise NewerFormat(
            f"{marker.parent} has format {found}",
            f"this release ({__version__}) supports formats up to {FORMAT}",
            "Use the release that wrote it, or a later one.",
        )
