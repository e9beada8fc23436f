"""Measures the CPU time of a search with ten results and snippets, beside tantivy alone, Lucene and SQLite."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import closing
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from indexing.corpus import real_corpus, small_corpus
from periplus import __version__
from periplus.config import Settings
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection, open_collection
from querying import peers
from querying.lucene import LuceneSearcher
from querying.prepare import Queries, prepared
from querying.timing import Times, milliseconds

CACHE = Path(__file__).with_name(".cache")
SIZE = 10  # results
STARTS = 3  # processes whose first query is measured
CHECK_SECONDS = 600  # for the check of the large files, which would count as CPU time of the queries


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--pages", type=int, default=120_000, help="pages of the index, at most (%(default)s)")
    parser.add_argument("--queries", type=int, default=300, help="queries of each kind (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of every query; the best counts (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, pages=18, queries=10, rounds=1)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache, tempfile.TemporaryDirectory(prefix="query-") as folder:
        if options.tiny:
            collection = small_corpus(Path(folder) / "home", made_web(cache, "{name}.test"))
        else:
            collection = real_corpus(cache, options.pages)
        own = collection.home / "query-peers"
        queries = prepared(collection, own, options.queries)
        result = measured(collection, queries, options.rounds)
        result |= beside(own, queries, options.rounds)
        return result | {"lucene": None if options.tiny else beside_lucene(own, queries, cache, options.rounds)}


def measured(collection: Collection, queries: Queries, rounds: int) -> dict[str, Any]:
    everything, steps = [*queries.words, *queries.questions], dict[str, list[float]]()
    first = first_query(collection, queries)
    with closing(SearchEngine.open(collection, Settings())) as engine:
        engine.damage(CHECK_SECONDS)

        def search(query: str) -> None:
            for name, seconds in engine.search(query, size=SIZE).steps.items():
                steps.setdefault(name, []).append(1e3 * seconds)

        times = milliseconds(search, everything, rounds)
        documents = engine.documents
    return {
        "bench": "query",
        "version": __version__,
        "documents": documents,
        "queries": len(everything),
        **summary(times),
        "first_query_ms": first,
        "words": summary(times[: len(queries.words)]),
        "questions": summary(times[len(queries.words) :]),
        "steps": {name: round(float(np.median(spent)), 2) for name, spent in steps.items()},
    }


def beside(folder: Path, queries: Queries, rounds: int) -> dict[str, Any]:
    """The figures of the peers in Python."""
    everything = [peers.words_of(query) for query in (*queries.words, *queries.questions)]
    others: dict[str, peers.Peer] = {"tantivy": peers.RawTantivy(folder), "sqlite": peers.Sqlite(folder)}
    return {name: summary(milliseconds(peer.search, everything, rounds)) for name, peer in others.items()}


def beside_lucene(folder: Path, queries: Queries, cache: Path, rounds: int) -> dict[str, float] | None:
    """The figures of Lucene; None where its packages cannot be downloaded."""
    everything = [peers.words_of(query) for query in (*queries.words, *queries.questions)]
    try:
        return summary(np.min(LuceneSearcher(cache).milliseconds(folder, everything, rounds), axis=0))
    except BenchError as problem:
        print(f"Lucene is left out: {problem}", file=sys.stderr)
        return None


def summary(times: Times) -> dict[str, float]:
    mean = float(times.mean())
    middle, last = np.percentile(times, (50, 99)).tolist()
    return {"p50_ms": round(middle, 3), "p99_ms": round(last, 3), "mean_ms": round(mean, 3), "qps": round(1e3 / mean)}


def first_query(collection: Collection, queries: Queries) -> float:
    """CPU milliseconds of the first query of a process: the median of some processes."""
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        tasks = [(collection.home, query) for query in queries.questions[:STARTS]]
        return round(float(np.median(pool.starmap(_first_query, tasks, chunksize=1))), 1)


def _first_query(home: Path, query: str) -> float:
    with closing(SearchEngine.open(open_collection(home), Settings())) as engine:
        before = time.thread_time()  # the large files are checked in another thread meanwhile
        engine.search(query, size=SIZE)
        return 1e3 * (time.thread_time() - before)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
