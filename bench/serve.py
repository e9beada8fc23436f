"""Measures `periplus serve` under load: many clients, Zipf-distributed searches, and index switches meanwhile."""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from indexing.corpus import real_corpus, small_corpus
from periplus import __version__
from periplus.config import Settings
from periplus.search.engine import SearchEngine
from periplus.store.collection import Collection
from querying.prepare import part_of, prepared
from serving.clients import Figures, Workload, find_wrk, load, once, overload
from serving.site import Served, copied, served

CACHE = Path(__file__).with_name(".cache")
SEED = 23
SIZE = 10  # results
QUERIES = 300  # of each kind in bench/query.py, which builds the index
WARM_UP_CLIENTS = 32  # of fewer, one process may accept nearly all
DRAWS = 200_000  # searches after which their order repeats
STEPS = (1, 5, 10, 20, 100)  # clients


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--pages", type=int, default=120_000, help="pages of the index, at most (%(default)s)")
    parser.add_argument("--queries", type=int, default=10_000, help="distinct searches (%(default)s)")
    parser.add_argument("--clients", type=int, default=1_000, help="clients of the long runs (%(default)s)")
    parser.add_argument("--seconds", type=float, default=60, help="duration of the long runs (%(default)s)")
    parser.add_argument("--step-seconds", type=float, default=5, help="duration of the other runs (%(default)s)")
    parser.add_argument("--switch-seconds", type=float, default=15, help="between two switches (%(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="server processes (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    sizes: dict[str, Any] = {"pages": 18, "queries": 20, "clients": 20, "workers": 1}
    add_tiny(parser, **sizes, seconds=1, step_seconds=0.2, switch_seconds=0.3)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache:
        if options.tiny:
            collection = small_corpus(cache / "home", made_web(cache, "{name}.test"))
        else:
            collection = real_corpus(cache, options.pages)
        prepared(collection, collection.home / "query-peers", QUERIES)
        wrk = find_wrk(cache, download=not options.tiny)
        with tempfile.TemporaryDirectory(prefix="serve-", dir=cache) as folder:
            work = workload(collection, options.queries, Path(folder))
            home = copied(collection, Path(folder) / "home")
            return measured(home, work, wrk, options)


def workload(collection: Collection, most: int, folder: Path) -> Workload:
    """Distinct searches made from titles; the number of requests for each follows the law of Zipf."""
    chosen, queries = random.Random(SEED), dict[str, None]()
    with closing(SearchEngine.open(collection, Settings())) as engine:
        numbers = chosen.sample(range(engine.documents), engine.documents)
        for number in numbers:
            queries[part_of(engine.index.pages.head(number).full_title, chosen)] = None
            if len(queries) > most:
                break
    queries.pop("", None)
    paths = [f"/api/search?{urlencode({'q': query, 'size': SIZE})}" for query in list(queries)[:most]]
    weights = 1 / np.arange(1, len(paths) + 1)
    order = np.random.default_rng(SEED).choice(len(paths), DRAWS, p=weights / weights.sum()) + 1
    return Workload(paths, order.tolist(), folder)


def measured(home: Path, work: Workload, wrk: list[str], options: argparse.Namespace) -> dict[str, Any]:
    with served(home, options.workers, cache_mb="0", memory_cache_mb="0") as site:
        once(site, ["/healthz"], 1)  # the processes take a second to start
        first = 1e3 * once(site, work.paths[:1], 1)
        refusals = overload(site, work.paths, options.clients, options.step_seconds)
    with served(home, options.workers) as site:
        uncached = len(work.paths) / once(site, work.paths, WARM_UP_CLIENTS)
        steps = {str(count): load(wrk, site, work, count, options.step_seconds) for count in STEPS}
        result = load(wrk, site, work, options.clients, options.seconds)
        with switching(site, options.switch_seconds, work):
            swap = load(wrk, site, work, options.clients, options.seconds)
    return {
        "bench": "serve",
        "version": __version__,
        "generator": "wrk" if wrk else "asyncio",
        "workers": options.workers,
        "queries": len(work.paths),
        "first_query_ms": round(first, 1),
        **result,
        "uncached_qps": round(uncached),
        "swap": swap | {"uncached_qps": round(uncached)},
        "by_clients": steps,
        "overload": refusals,
    }


@contextmanager
def switching(site: Served, seconds: float, work: Workload) -> Iterator[None]:
    """Switches between the generations until the block ends, after the searches of the second are in the cache."""
    site.switch(2)
    time.sleep(3)  # the site looks once a second
    once(site, work.paths, WARM_UP_CLIENTS)
    stop = threading.Event()

    def switch() -> None:
        number = 2
        while not stop.wait(seconds):
            number = 3 - number
            site.switch(number)

    thread = threading.Thread(target=switch)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def table(result: Figures) -> str:
    rows = [f"{name:28}{value}" for name, value in result.items() if not isinstance(value, dict)]
    for name in ("swap", "overload"):
        rows += [f"{name}.{key:{27 - len(name)}}{value}" for key, value in result[name].items()]
    for clients, figures in result["by_clients"].items():
        rows.append(f"{clients:>4} clients: {figures['cached_qps']:>7} a second, p99 {figures['p99_s']} s")
    return "\n".join(rows)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench, table))
