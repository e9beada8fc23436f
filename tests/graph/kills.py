"""A program that kills rankings at chosen moments: `python kills.py HOME NUMBER` prints what it found as JSON."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from killing import Work, sweep
from periplus.config import LinkAnalysis
from periplus.graph.run import rank
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import RANK_KIND, Generations
from periplus.store.ranks import RankTable, open_ranks

SETTINGS = LinkAnalysis(memory_mb=256, threads=1, generations=1)  # so that every run also removes one


def live(collection: Collection) -> RankTable:
    table = open_ranks(collection.ranks)
    assert table is not None
    return table


def content(collection: Collection) -> dict[str, str]:
    """The digest of every file of the live generation."""
    assert list(Generations(collection.ranks, RANK_KIND).damage()) == []
    folder = live(collection).folder
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def main() -> None:
    """Rank once here, which compiles the kernels; then sweep."""
    collection = open_collection(Path(sys.argv[1]))
    rank(collection, SETTINGS)
    work = Work(
        do=lambda: rank(collection, SETTINGS),
        publishing=Generations.publish.__code__,
        generation=lambda: live(collection).number,
        content=lambda: content(collection),
        folder=collection.ranks,
    )
    sys.stdout.write(json.dumps(sweep(work, int(sys.argv[2]))))


if __name__ == "__main__":
    main()
