"""Ways to damage a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def delete(path: Path) -> None:
    path.unlink()


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path, place: float = 0.5, bit: int = 4) -> None:
    """One bit, at a share of the length."""
    data = bytearray(path.read_bytes())
    data[int(place * (len(data) - 1))] ^= bit
    path.write_bytes(data)


WAYS: dict[str, Callable[[Path], None]] = {
    "deleted": delete,
    "emptied": empty,
    "zeroed": zero,
    "cut in half": cut,
    "flipped in the middle": flip,
    "flipped at the start": lambda path: flip(path, 0.0),
    "flipped near the end": lambda path: flip(path, 0.95),
}
