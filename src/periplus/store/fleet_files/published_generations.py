"""Publishes generations of the ranks or the index in an object store, where every node of a fleet finds them.

    index/files/DIGEST              a file, which several generations may share
    index/gen-N/meta-DIGEST.json    the meta.json of a generation, which lists its files; DIGEST is its own
    index/CURRENT                   name of the live generation, and digest of its meta.json

A generation is complete before CURRENT names it. CURRENT is written conditionally: one of two publishers gets an error.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import xxhash

from periplus.errors import DamagedFile, NoIndex, ObjectChanged, ObjectMissing, StorageError
from periplus.store.checksums import StoredFile, verified
from periplus.store.generations import CURRENT, META, Generation, Kind, number_of, stored_files
from periplus.store.objects.object_store import ObjectFacts, ObjectStore
from periplus.store.objects.transfers import PARALLEL_TRANSFERS

logger = logging.getLogger("periplus.store")

_CURRENT = re.compile(r"(gen-[0-9]+) ([0-9a-f]{32})\n")
_MANIFEST = re.compile(r"gen-[0-9]+/meta-[0-9a-f]{32}\.json")
_RESUMED = 3600.0  # seconds; a file of this age is that of an interrupted publication
_KEPT = 86_400.0  # seconds; younger files may belong to a generation that is being published


class Current(NamedTuple):
    """The live generation of an object store."""

    name: str  # gen-N
    digest: str  # of its meta.json
    tag: str = ""  # of the object CURRENT

    @property
    def number(self) -> int:
        """The number of the generation."""
        return int(self.name.removeprefix("gen-"))


class PublishedGenerations:
    """The generations of one kind in an object store."""

    def __init__(self, store: ObjectStore, folder: str, kind: Kind) -> None:
        """*folder*: `ranks` or `index`, as in a collection."""
        self.store, self.kind, self._folder = store, kind, folder

    def current(self) -> Current | None:
        """The live generation; None before the first."""
        try:
            data, tag = self.store.get(f"{self._folder}/{CURRENT}")
        except ObjectMissing:
            return None
        found = _CURRENT.fullmatch(data.decode("ascii", errors="replace"))
        if found is None:
            raise DamagedFile(f"{self.store.url}/{self._folder}/{CURRENT} is damaged", hint=self._publish_again)
        return Current(found[1], found[2], tag)

    def meta(self, generation: Current) -> bytes:
        """The meta.json of a generation."""
        name = self.meta_name(generation)
        data = self.store.get(name).data
        if _digest(data) != generation.digest:
            raise DamagedFile(f"{self.store.url}/{name} is damaged", hint=self._publish_again)
        return data

    def object_of(self, file: StoredFile) -> str:
        """The name of the object with the content of a file."""
        return f"{self._folder}/files/{file.digest.hex()}"

    def publish(
        self, folder: Path, base: Current | None, keep: int, require_held: Callable[[], object] = bool
    ) -> Current:
        """Upload a complete generation and make it live, if *base* is still the live one; removes old generations.

        Files of *base* are not uploaded again. *require_held* raises an error when the lock of the job was lost.
        """
        if base is not None and base.number >= number_of(folder):
            raise self._lost(folder, f"generation {base.number} is live")
        with closing(Generation(folder, self.kind)) as generation:
            self._upload(generation.files.values(), self._files_of(base))
            meta = (folder / META).read_bytes()
            published = Current(folder.name, _digest(meta))
            self.store.put(self.meta_name(published), meta)
        require_held()
        live = self.make_live(published, base)
        try:
            self._remove_old(live, keep)
        except StorageError as error:  # the next publication removes them
            logger.warning("old generations were not removed: %s", error)
        return live

    def find(self, number: int | None, live: Current | None) -> Current:
        """A generation in the store; without *number* the last one before the live one."""
        every = {one.number: one for one in self.generations()}
        if number is None:
            number = max((one for one in every if live is None or one < live.number), default=None)
        if number is None:
            hint = f"`periplus {self.kind.command}` publishes a new one."
            raise NoIndex(f"{self.store.url} has no earlier generation", hint=hint)
        if number not in every:
            raise NoIndex(f"{self.store.url} has no generation {number}", hint="`periplus generations` lists those.")
        return every[number]

    def remove_before(self, number: int | None) -> None:
        """Delete every generation but the live one, which must have at least this number, and all other files at once.

        None: also the live one. No other process may be publishing.
        """
        live = self.current()
        if live is not None and number is not None and live.number < number:
            what = f"{self.store.url}/{self._folder} has changed"
            raise ObjectChanged(what, f"generation {live.number} is live", "Run the same command again.")
        kept = live if number is not None else None
        used = self._files_of(kept)
        if kept is None:
            self.store.delete([f"{self._folder}/{CURRENT}"])
        kept_name = self.meta_name(kept) if kept else ""
        self.store.delete([name for name in map(self.meta_name, self.generations()) if name != kept_name])
        self.store.delete([one.name for one in self.store.list(f"{self._folder}/files") if one.name not in used])

    def _upload(self, files: Iterable[StoredFile], known: set[str]) -> None:
        recent = time.time() - _RESUMED
        present = {one.name: one for one in self.store.list(f"{self._folder}/files")}

        def upload(file: StoredFile) -> None:
            name = self.object_of(file)
            if not _is_stored(present.get(name), file.size, recent, is_known=name in known):
                file.require_intact()
                self.store.put_file(name, file.path)

        with ThreadPoolExecutor(PARALLEL_TRANSFERS, "uploads") as threads:
            for _ in threads.map(upload, {file.digest: file for file in files}.values()):
                pass

    def make_live(self, generation: Current, base: Current | None) -> Current:
        """Let CURRENT name a generation of the store, if *base* is still the live one."""
        content = f"{generation.name} {generation.digest}\n".encode()
        try:
            tag = self.store.put_if(f"{self._folder}/{CURRENT}", content, base.tag if base else None)
        except ObjectChanged as error:
            raise self._lost(Path(generation.name), "another process has published one meanwhile") from error
        return generation._replace(tag=tag)

    def _lost(self, folder: Path, why: str) -> ObjectChanged:
        what = f"generation {number_of(folder)} was not published in {self.store.url}"
        return ObjectChanged(what, why, f"Run `periplus {self.kind.command}` again: it begins with the live one.")

    @property
    def _publish_again(self) -> str:
        return f"`periplus {self.kind.command}` publishes a new generation."

    def meta_name(self, generation: Current) -> str:
        """The name of the object with the meta.json of a generation."""
        return f"{self._folder}/{generation.name}/meta-{generation.digest}.json"

    def _files_of(self, generation: Current | None) -> set[str]:
        """The names of the objects of a generation."""
        if generation is None:
            return set()
        meta: dict[str, Any] = verified(self.meta(generation))
        return {self.object_of(file) for file in stored_files(Path(), meta).values()}

    def generations(self) -> list[Current]:
        """Every generation in the store, oldest first."""
        names = (facts.name.removeprefix(f"{self._folder}/") for facts in self.store.list(self._folder))
        manifests = [name for name in names if _MANIFEST.fullmatch(name)]
        found = (Current(name.partition("/")[0], name[-37:-5]) for name in manifests)
        return sorted(found, key=lambda one: one.number)

    def _remove_old(self, live: Current, keep: int) -> None:
        """Remove all but the newest generations, and files of none; those of an unfinished publication stay.

        A generation that a rollback has left may have the number of the live one: it goes, too.
        """
        every = self.generations()
        older = [one for one in every if one.number < live.number]
        removed = older[: max(0, len(older) - keep + 1)]
        removed += [one for one in every if one.number == live.number and one.digest != live.digest]
        used = set().union(*(self._files_of(one) for one in every if one not in removed))
        before = time.time() - _KEPT
        files = [one for one in self.store.list(f"{self._folder}/files") if one.changed < before]
        self.store.delete(self.meta_name(one) for one in removed)
        self.store.delete(one.name for one in files if one.name not in used)


def _is_stored(present: ObjectFacts | None, size: int, recent: float, *, is_known: bool) -> bool:
    return present is not None and present.size == size and (is_known or present.changed > recent)


def _digest(data: bytes) -> str:
    return xxhash.xxh3_128_hexdigest(data)
