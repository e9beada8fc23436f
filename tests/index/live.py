"""The live generation of an index, for tests that look into its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations, damaged_files, read_meta


def live_index(collection: Collection) -> Path:
    """The folder of the live generation."""
    live = Generations(collection.index, INDEX_KIND).live()
    assert live is not None
    return live


def facts_of(generation: Path) -> dict[str, Any]:
    """The checked content of `meta.json`."""
    return read_meta(generation, INDEX_KIND)


def problems_of(generation: Path) -> list[tuple[str, str]]:
    """Every damaged file of a generation, and the problem."""
    return list(damaged_files(generation, INDEX_KIND))
