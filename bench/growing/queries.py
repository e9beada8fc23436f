"""Searches an index of a growing web: `python -m growing.queries HOME PAGES EACH ROUNDS` prints the CPU times."""

from __future__ import annotations

import json
import random
import sys
from contextlib import closing
from pathlib import Path

from growing.web import GrowingWeb, title
from living.made_web import word
from periplus.config import Settings
from periplus.search.engine import SearchEngine
from periplus.store.collection import open_collection
from querying.timing import milliseconds

CHECK_SECONDS = 3600  # for the check of the large files, which would count as CPU time of the queries
_SEED = 22
_RESULTS = 10
_COMMON, _RARE = (120, 1_000), (20_000, 60_000)  # ranks of words


def queries_of(web: GrowingWeb, each: int) -> dict[str, list[str]]:
    """The queries of a web by kind; words have the same ranks in webs of every size."""
    chosen = random.Random(_SEED)
    titles = [title(*web.popular_page(chosen)) for _ in range(2 * each)]
    return {
        "common": [word(chosen.randint(*_COMMON)) for _ in range(each)],
        "rare": [word(chosen.randint(*_RARE)) for _ in range(each)],
        "title": titles[:each],
        "question": [f"how can I use {name} with {word(chosen.randint(*_COMMON))}" for name in titles[each:]],
    }


def main() -> None:
    """Prints CPU milliseconds by kind of query, and the number of documents."""
    home, pages, each, rounds = Path(sys.argv[1]), *map(int, sys.argv[2:5])
    kinds = queries_of(GrowingWeb(pages), each)
    with closing(SearchEngine.open(open_collection(home), Settings())) as engine:
        engine.damage(CHECK_SECONDS)

        def search(query: str) -> None:
            engine.search(query, size=_RESULTS)

        times = {kind: milliseconds(search, queries, rounds).tolist() for kind, queries in kinds.items()}
        print(json.dumps({"documents": engine.documents, "times": times}))


if __name__ == "__main__":
    main()
