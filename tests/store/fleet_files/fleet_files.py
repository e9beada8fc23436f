"""What tests of an object store share: a store in a folder that counts, and small generations."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from periplus.store.fleet_files.generation_cache import GenerationCache
from periplus.store.fleet_files.published_generations import Current, PublishedGenerations
from periplus.store.generations import INDEX_KIND, Generations
from periplus.store.objects.folder_store import FolderObjectStore
from periplus.store.objects.object_store import ObjectStore

FACTS = {"documents": 3, "duplicates": 1, "ranks": 0, "prior_strength": 0.05}
PLENTY = 1 << 40  # bytes


class CountingStore(FolderObjectStore):
    """A store in a folder that notes what is uploaded and downloaded."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(f"file://{folder}", folder)
        self.uploaded: list[str] = []
        self.downloaded: list[str] = []

    def put_file(self, name: str, path: Path) -> None:
        super().put_file(name, path)
        self.uploaded.append(name)

    def get_file(self, name: str, path: Path, go_on: Callable[[], object] = bool) -> None:
        self.downloaded.append(name)
        super().get_file(name, path, go_on)


def build(folder: Path, files: dict[str, bytes]) -> Path:
    """Build a local generation."""
    generations = Generations(folder, INDEX_KIND)
    with generations.writing() as building:
        for name, content in files.items():
            (building / name).parent.mkdir(exist_ok=True)
            (building / name).write_bytes(content)
        return generations.publish(building, FACTS, 3)


def published_in(store: ObjectStore) -> PublishedGenerations:
    return PublishedGenerations(store, "index", INDEX_KIND)


def publish(store: ObjectStore, folder: Path, files: dict[str, bytes], keep: int = 3) -> Current:
    """Build a generation in a folder and publish it after the live one."""
    published = published_in(store)
    return published.publish(build(folder, files), published.current(), keep)


def bring(store: ObjectStore, folder: Path, cache_bytes: int = PLENTY) -> Path:
    """Bring the live generation into a folder."""
    published = published_in(store)
    current = published.current()
    assert current is not None
    return GenerationCache(folder, published, cache_bytes).bring(current)
