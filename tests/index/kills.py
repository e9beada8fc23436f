"""A program that kills index builds at chosen moments: `python kills.py HOME NUMBER` prints what it found as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from index.live import live_index, problems_of
from killing import Work, in_a_fork, sweep
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import Generations, number_of
from search.library import index, opened

QUERIES = ["harbour", "lighthouse OR reef", '"deep water"', "coast -reef"]


def content(collection: Collection) -> list[Any]:
    """What the live generation answers: the same after every build, though its bytes are not."""
    assert problems_of(live_index(collection)) == []
    found: list[Any] = []
    with opened(collection) as engine:
        for query in QUERIES:
            results = engine.search(query, size=100, explain=True)
            hits = [[hit.url, hit.score, hit.snippet, *hit.same_content] for hit in results.hits]
            found.append([results.total, hits])
    return [engine.documents, found]


def main() -> None:
    """Build once, then sweep; never in this process, which must not start the threads of the library."""
    collection = open_collection(Path(sys.argv[1]))
    in_a_fork(lambda: index(collection).documents)
    work = Work(
        do=lambda: index(collection, full=True),
        publishing=Generations.publish.__code__,
        generation=lambda: number_of(live_index(collection)),
        content=lambda: content(collection),
        folder=collection.index,
    )
    sys.stdout.write(json.dumps(sweep(work, int(sys.argv[2]))))


if __name__ == "__main__":
    main()
