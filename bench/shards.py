"""Compares a search over shards in one process with a search in one index: results, CPU time and wall time."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from indexing.corpus import real_corpus, small_corpus
from periplus import __version__
from periplus.config import Settings
from periplus.index.build import build_index
from periplus.model import Results
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection, open_collection
from periplus.store.generations import INDEX_KIND, Generations
from querying.prepare import part_of
from sharding.nodes import over_nodes

CACHE = Path(__file__).with_name(".cache")
SIZE = 10  # results
SEED = 17
CHECK_SECONDS = 600  # for the check of the large files, which would count as CPU time of the queries


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--home", type=Path, help="a collection; without it, documentation packages are downloaded")
    parser.add_argument("--pages", type=int, default=25_000, help="pages of the index, at most (%(default)s)")
    parser.add_argument("--queries", type=int, default=500, help="queries (%(default)s)")
    parser.add_argument("--shards", type=int, default=4, help="shards (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of every query; the best counts (%(default)s)")
    parser.add_argument("--nodes", action="store_true", help="also measure a broker over one process for each shard")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, pages=18, queries=12, rounds=1, nodes=True)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache, tempfile.TemporaryDirectory(prefix="shards-") as folder:
        if options.home is not None:
            collection = open_collection(options.home)
        elif options.tiny:
            collection = small_corpus(Path(folder) / "home", made_web(cache, "{name}.test"))
        else:
            collection = real_corpus(cache, options.pages)
        with engines(collection, options.shards) as (one, shards):
            queries, folders = some_queries(one, options.queries), (one.folder, shards.folder)
            found = compared(one, shards, queries, options.rounds) | {"shards": options.shards}
            if options.nodes:
                found["nodes"] = over_nodes(collection, *folders, queries, Path(folder))
            return found


@contextmanager
def engines(collection: Collection, shards: int) -> Iterator[tuple[SearchEngine, SearchEngine]]:
    """The same pages in one index and in shards; afterwards the live generation is the one without shards."""
    generations = Generations(collection.index, INDEX_KIND)
    with ExitStack() as opened:
        found = []
        for number in (1, shards):
            settings = Settings().index.model_copy(update={"shards": number})
            print(f"building an index of {number} shard(s)", file=sys.stderr)
            build_index(collection, settings)
            found.append(opened.enter_context(closing(SearchEngine.open(collection, Settings()))))
            found[-1].damage(CHECK_SECONDS)
        generations.roll_back(found[0].generation)
        yield found[0], found[1]


def some_queries(engine: SearchEngine, most: int) -> list[str]:
    """Neighbouring words of titles; the same ones every time."""
    chosen, pages = random.Random(SEED), engine.index.pages
    numbers = chosen.sample(range(engine.documents), min(3 * most, engine.documents))
    parts = (part_of(pages.head(number).full_title, chosen) for number in numbers)
    found = list(dict.fromkeys(filter(None, parts)))
    return [found[place % len(found)] for place in range(most)]


def compared(one: SearchEngine, shards: SearchEngine, queries: Sequence[str], rounds: int) -> dict[str, Any]:
    """The figures of both engines, and how much their results differ."""
    results = [[engine.search(query, size=SIZE) for query in queries] for engine in (one, shards)]
    pairs = list(zip(*results, strict=True))
    whole, divided = (timed(engine, queries, rounds) for engine in (one, shards))
    return {
        "bench": "shards",
        "version": __version__,
        "documents": one.documents,
        "queries": len(queries),
        "overlap": round(float(np.mean([overlap(*pair) for pair in pairs])), 4),
        "identical": round(float(np.mean([first.hits == second.hits for first, second in pairs])), 4),
        "same_totals": round(float(np.mean([first.total == second.total for first, second in pairs])), 4),
        "one": whole,
        "divided": divided,
        "cpu_ratio": round(divided["cpu_p50_ms"] / whole["cpu_p50_ms"], 2),
    }


def overlap(one: Results, other: Results) -> float:
    """The share of the results of one search that the other has, too."""
    found, others = ({hit.url for hit in results.hits} for results in (one, other))
    return len(found & others) / max(len(found), len(others)) if found or others else 1.0


def timed(engine: SearchEngine, queries: Sequence[str], rounds: int) -> dict[str, float]:
    """CPU and wall milliseconds of a search: for each query, the best of some rounds."""
    spent = np.empty((rounds, len(queries), 2))
    for number in range(rounds):
        for place, query in enumerate(queries):
            cpu, wall = time.process_time(), time.perf_counter()
            engine.search(query, size=SIZE)
            spent[number, place] = 1e3 * (time.process_time() - cpu), 1e3 * (time.perf_counter() - wall)
    best = spent.min(axis=0)
    figures = zip(("cpu_p50_ms", "wall_p50_ms", "cpu_p99_ms", "wall_p99_ms"), _percentiles(best), strict=True)
    return {name: round(value, 3) for name, value in figures}


def _percentiles(best: np.ndarray[Any, Any]) -> list[float]:
    found: list[float] = np.percentile(best, (50, 99), axis=0).ravel().tolist()
    return found


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
