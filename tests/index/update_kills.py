"""A program that kills updates of an index at chosen moments: `python update_kills.py HOME NUMBER` prints JSON.

Every update gives one page another rank, so that it is removed and added; the pages themselves stay the same.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from index.content import content_of
from index.kills import QUERIES
from index.live import live_index, problems_of
from killing import Work, in_a_fork, sweep
from periplus.index import build
from periplus.index.planning import lineage
from periplus.index.storage import parts
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import number_of
from search.library import give_ranks, index, opened


def content(collection: Collection) -> list[Any]:
    """What the live generation has, apart from the rank that changes."""
    generation = live_index(collection)
    assert problems_of(generation) == []
    words = content_of(generation)["words"]
    with opened(collection) as engine:
        found = [[sorted([hit.url, hit.snippet] for hit in engine.search(query, size=100).hits)] for query in QUERIES]
    return [engine.documents, found, words]


def update(collection: Collection) -> str:
    """Publish the next generation."""
    is_even = number_of(live_index(collection)) % 2 == 0
    give_ranks(collection, {f"http://h{n}.test/{n}": 900.0 if is_even else 1.0 for n in range(3)})
    summary = index(collection, vectors=False)
    assert summary.build == "update", summary
    return summary.build


def main() -> None:
    """Build once, then sweep; never in this process, which must not start the threads of the library."""
    lineage.MOST_REMOVED = lineage.MOST_NEW = 1e9
    parts._SMALL = 4
    collection = open_collection(Path(sys.argv[1]))
    in_a_fork(lambda: index(collection, vectors=False).documents)
    for _ in range(4):  # the first updates have fewer pages to replace and no generation to remove
        in_a_fork(lambda: update(collection))
    work = Work(
        do=lambda: update(collection),
        publishing=build._require_sound.__code__,  # `publish` is called for the ranks, too
        generation=lambda: number_of(live_index(collection)),
        content=lambda: content(collection),
        folder=collection.index,
    )
    sys.stdout.write(json.dumps(sweep(work, int(sys.argv[2]))))


if __name__ == "__main__":
    main()
