"""Reads and writes receipts: what was forgotten, as a hash, and how much of it was removed from where.

While the work is unfinished, the same content is in a file `unfinished-*.json`. So a command that continues after a
kill still knows the numbers.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from periplus.errors import UsageError
from periplus.store.block_list import Blocked, BlockList
from periplus.store.checksums import verified, with_checksums
from periplus.store.collection import Collection
from periplus.store.durable import reporting_full_disk, sync_directory, write_file

_FORMAT = 1


@dataclass(frozen=True, slots=True)
class Receipt:
    """What the file of a receipt contains; no name and no text of what was forgotten."""

    kind: str  # url or host
    hash: str  # keyed, as in the block list
    key: str
    at: float  # seconds since the epoch
    removed: dict[str, int]  # by kind
    kept_bodies: int  # archive records that stay, because revisit records of other URLs refer to them
    same_content: int  # other URLs with the same bytes, which stay
    generations: dict[str, int] = field(default_factory=dict)  # new ones, by folder
    is_built: bool = False  # the new generations are complete
    format: int = _FORMAT

    @property
    def entry(self) -> Blocked:
        """The entry of the block list."""
        return Blocked(self.kind, self.hash)

    @property
    def blocked(self) -> BlockList:
        """A block list with this entry only."""
        return BlockList(bytes.fromhex(self.key), frozenset({self.entry}))


def read_receipt(path: Path) -> Receipt:
    """Read a receipt, or an unfinished one."""
    try:
        facts = verified(path.read_bytes())
        return Receipt(**facts)
    except (OSError, ValueError, TypeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(
            f"{path} is no receipt", why, "`periplus forget` writes receipts to the folder `forgotten`."
        ) from None


def unfinished(collection: Collection) -> list[Path]:
    """The unfinished receipts."""
    return sorted(collection.forgotten.glob("unfinished-*.json"))


def begin(collection: Collection, receipt: Receipt) -> Path:
    """Store that the work for a receipt has begun; the numbers of an earlier, killed begin stay."""
    path = collection.forgotten / f"unfinished-{receipt.hash}.json"
    if not path.exists():
        _write(path, receipt)
    return path


def note_generations(paths: Iterable[Path], generations: dict[str, int]) -> None:
    """Store in unfinished receipts that ranks and index are built anew: what is left is to remove the old ones."""
    for path in paths:
        _write(path, replace(read_receipt(path), generations=generations, is_built=True))


def finish(collection: Collection, path: Path) -> tuple[Path, Receipt]:
    """Turn an unfinished receipt into a finished one."""
    receipt = replace(read_receipt(path), at=time.time())
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(receipt.at))
    final = collection.forgotten / f"receipt-{moment}-{receipt.hash[:8]}.json"
    _write(final, receipt)
    path.unlink()
    sync_directory(collection.forgotten)
    return final, receipt


def _write(path: Path, receipt: Receipt) -> None:
    facts: dict[str, Any] = asdict(receipt)
    with reporting_full_disk(path.parent.parent):
        path.parent.mkdir(exist_ok=True)
        write_file(path, with_checksums(facts))
