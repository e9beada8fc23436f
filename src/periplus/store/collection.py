"""The folder of a collection: its paths, its format version and its locks."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO
from uuid import uuid4

from periplus import __version__
from periplus.config import FILE_NAME as CONFIGURATION_FILE
from periplus.config import shared_places
from periplus.errors import CollectionError, CollectionLocked, DamagedFile, NewerFormat, NoCollection, PeriplusError
from periplus.store.block_list import FOLDER
from periplus.store.checksums import verified, with_checksums
from periplus.store.durable import reporting_full_disk, write_file

FORMAT = 1
_MARKER = "collection.json"
_FOLDER_ID = "folder.id"
_BUILDING_ALONE: set[str] = set()  # URLs of the databases whose builds this process has locked out
_ALLOWED_BEFORE = frozenset({CONFIGURATION_FILE, "crawl.lock", _MARKER + ".tmp", "lost+found"})


@dataclass(frozen=True, slots=True)
class Collection:
    """The folder of a collection whose format this release supports.

    On a fleet it is the working folder of one node; the catalog is in *database* and complete files are in *storage*.
    """

    home: Path
    database: str = field(default="", repr=False)  # URL of the catalog, with a password; empty: the file `crawl.db`
    storage: str = ""  # URL of the object store; empty: the folder itself
    node: str = field(default_factory=socket.gethostname)  # name of this machine in the rows of its processes

    @property
    def catalog(self) -> Path:
        """The SQLite database: frontier, hosts, URL history."""
        return self.home / "crawl.db"

    @property
    def has_catalog(self) -> bool:
        """Whether there is a catalog; a node that only serves an index of an object store has none."""
        return bool(self.database) or self.catalog.exists()

    @property
    def uploads_files(self) -> bool:
        """Whether workers upload complete files, because other nodes read them."""
        return bool(self.database and self.storage)

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
    def scratch(self) -> Path:
        """The folder of temporary files of distributed jobs, a folder for each."""
        return self.home / "scratch"

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
    def standing_queries(self) -> Path:
        """The SQLite database of the standing queries."""
        return self.home / "standing" / "queries.db"

    @property
    def log(self) -> Path:
        """The log of `periplus up`; older ones end with a number."""
        return self.home / "up.log"

    @property
    def forgotten(self) -> Path:
        """The folder of the block list and the receipts of `periplus forget`."""
        return self.home / FOLDER

    @property
    def reparse_plan(self) -> Path:
        """The file with the segments of an unfinished `reparse --everything`."""
        return self.home / "reparse.json"

    @contextmanager
    def locked(self, job: str = "crawl", *, alone: bool = False) -> Iterator[Callable[[], None]]:
        """Lock the collection for one kind of writing; a second writer gets an error that names the first.

        Several nodes of a fleet may crawl at the same time, unless one does it *alone*; of any other job, there is one.
        Yields a function that raises `CollectionLocked` when the server has released the lock of the fleet; give it to
        `Catalog.guard`.
        """
        with self._locked_here(job), self._locked_in_fleet(job, shared=job == "crawl" and not alone) as require_held:
            yield require_held

    @contextmanager
    def building(self, command: str, *, alone: bool = False) -> Iterator[Callable[[], None]]:
        """Lock the fleet for a build of ranks or index; *alone*: no other node may build, because pages are forgotten.

        A build would publish what it has read before. On one machine the locks of the generations do it. Yields a
        function as `locked` does; call it before the build is published.
        """
        if not self.database or self.database in _BUILDING_ALONE:  # a part of the job that holds the lock
            yield lambda: None
            return
        with self._locked_in_fleet("build", shared=not alone, command=command) as require_held:
            if alone:
                _BUILDING_ALONE.add(self.database)
            try:
                yield require_held
            finally:
                _BUILDING_ALONE.discard(self.database)

    @contextmanager
    def _locked_here(self, job: str) -> Iterator[None]:
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

    def _locked_in_fleet(
        self, job: str, *, shared: bool, command: str = ""
    ) -> AbstractContextManager[Callable[[], None]]:
        if not self.database:
            return nullcontext(lambda: None)  # a lock of this machine ends with the process
        require_driver()
        from periplus.store.database.postgres.job_lock import job_lock  # noqa: PLC0415  # an extra

        return job_lock(self.database, job, self.node, shared=shared, command=command)

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


def require_driver() -> None:
    """Raise an error when the library for PostgreSQL is not installed."""
    try:
        import psycopg  # noqa: F401, PLC0415  # an extra
    except ImportError as error:
        raise PeriplusError(
            "fleet.database needs the library psycopg", str(error), "Install it: pip install 'periplus[postgres]'."
        ) from error


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
    database, storage, node = shared_places(home)
    collection = Collection(home, database, storage, node or socket.gethostname())
    _require_one_catalog(collection)
    return collection


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


def folder_id(collection: Collection) -> str:
    """A random id of the folder, made when it is first asked for: two folders may have the same path and host name."""
    path = collection.home / _FOLDER_ID
    if not path.exists():
        write_file(path, uuid4().hex.encode())
    return path.read_text(encoding="ascii")


def _create_layout(home: Path) -> None:
    for name in ("archive", "segments"):
        (home / name).mkdir(exist_ok=True)
    write_marker(home)


def write_marker(home: Path) -> None:
    """Write the file that makes a folder a collection."""
    content = {"format": FORMAT, "made_by": f"periplus {__version__}"}
    write_file(home / _MARKER, with_checksums(content) + b"\n")


def _require_one_catalog(collection: Collection) -> None:
    """Refuse a collection of one machine as the folder of a node: the fleet does not know its archive files."""
    catalog = collection.catalog
    if collection.database and catalog.exists() and catalog.stat().st_size:
        raise CollectionError(
            f"{collection.home} is the collection of one machine",
            f"it has a catalog of its own, {catalog.name}, and `fleet.database` is set",
            "Use a new folder for the node, or unset `fleet.database`; `periplus export` and `import` copy pages.",
        )


def require_not_of_fleet(collection: Collection) -> None:
    """Refuse the folder of a node without the database of its fleet: the catalog is there."""
    if not collection.database and (collection.home / _FOLDER_ID).exists() and not collection.catalog.exists():
        raise CollectionError(
            f"{collection.home} is the folder of a fleet node",
            "`fleet.database` is not set, so there is no catalog",
            "Set PERIPLUS_FLEET__DATABASE as on the other nodes, or use another folder.",
        )


def _require_catalog(collection: Collection) -> None:
    """Refuse an archive without its catalog: all its bytes would be unacknowledged, and be cut off."""
    catalog = collection.catalog
    if collection.database or (catalog.exists() and catalog.stat().st_size):
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
