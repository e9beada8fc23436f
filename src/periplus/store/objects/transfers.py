"""Downloads files from an object store, and checks them before they get their names."""

from __future__ import annotations

from collections.abc import Callable

from periplus.errors import DamagedFile
from periplus.store.checksums import StoredFile, wrong_content, wrong_size
from periplus.store.durable import move_into_place
from periplus.store.objects.object_store import ObjectStore

PARALLEL_TRANSFERS = 4  # of one process
_PART = ".part"  # suffix of a file that is not complete


def download_checked(
    store: ObjectStore, name: str, file: StoredFile, go_on: Callable[[], object] = bool, hint: str | None = None
) -> None:
    """Download an object to the path of *file*, after a check; an empty digest means that only the size is known.

    *go_on*: see `ObjectStore.get_file`. *hint*: what the user can do about a damaged object.
    """
    part = file.path.with_name(file.path.name + _PART)
    store.get_file(name, part, go_on)
    problem = wrong_content(part, file.size, file.digest) if file.digest else wrong_size(part, file.size)
    if problem is not None:
        part.unlink()
        raise DamagedFile(f"{store.url}/{name} is damaged", problem, hint)
    move_into_place(part, file.path)
