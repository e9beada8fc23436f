"""How fast do links become ranks, next to the speed of memory and to libraries people know?

A web of 1.2 million pages and 72 million links that count is made once and kept in the cache, as the segments of a
collection. First, the whole way from segments to published ranks, with CPU time and memory by step. Then, in rounds:
one pass over the ids of the links (the floor), and iterations of PageRank by us, by scipy.sparse and by networkit, each
in a process of its own, one after the other. `times_floor` compares the best passes; the others compare the best means
of a round, because single passes of networkit cannot be timed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from harness import venvs
from harness.errors import BenchError
from harness.machine import busy_seconds
from periplus.config import LinkAnalysis
from periplus.graph.pagerank import Links, Walk, page_ranks
from periplus.graph.run import rank
from periplus.store.catalog import Catalog
from periplus.store.collection import Collection, create_collection, open_collection
from periplus.store.generations import Generation
from periplus.store.ranks import RankTable, open_ranks
from periplus.store.sealing import file_digest
from periplus.store.segments import LINKS, PAGES, SealedSegment, segment_name
from periplus.url import url_id

CACHE = Path(__file__).with_name(".cache")
MEMORY = 2 << 30  # what DuckDB may use
ITERATIONS = 10  # of every contestant in every round
PEERS = {"scipy": ["scipy>=1.17", "numpy>=2.2"], "networkit": ["networkit>=11.2", "numpy>=2.2"]}

Numbers = NDArray[np.int64]


def main() -> int:
    """Prints one JSON object (or lines), and returns the exit code."""
    options = arguments().parse_args()
    if options.role:
        ROLES[options.role](Path(options.folder))
        return 0
    try:
        result = bench(options)
    except BenchError as problem:
        print(f"bench/rank.py: {problem}", file=sys.stderr)
        return 1
    print(json.dumps(result) if options.json else "\n".join(f"{name} = {value}" for name, value in result.items()))
    return 0


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0] if __doc__ else "")
    add = parser.add_argument
    add("--json", action="store_true", help="print one JSON object instead of lines")
    add("--nodes", type=int, default=1_200_000, help="pages of the web (1,200,000)")
    add("--edges", type=int, default=72_000_000, help="links that count, about (72,000,000)")
    add("--rounds", type=int, default=5, help="rounds, the best of which counts (5)")
    add("--peers", default="scipy,networkit", metavar="NAME,...", help=f"of {', '.join(PEERS)}; empty: none")
    add("--cache", type=Path, default=CACHE, help="where the web and the peers live")
    add("--role", choices=["floor", "ours", "all"], help=argparse.SUPPRESS)
    add("--folder", help=argparse.SUPPRESS)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Gets everything ready and measures."""
    cache = options.cache.resolve()
    collection = prepared(cache / "rank" / f"web-{options.nodes}-{options.edges}", options.nodes, options.edges)
    whole = whole_way(collection)
    table = open_ranks(collection.ranks)
    assert table is not None
    seconds = contest(table.folder, [name for name in options.peers.split(",") if name], cache, options.rounds)
    (quickest, ours), iterating = seconds["ours"], whole.pop("iterating")
    return {
        "bench": "rank",
        "nodes": table.figures.nodes,
        "edges": table.figures.edges,
        "seconds_per_iteration": round(ours, 4),
        "times_floor": round(quickest / seconds["floor"][0], 2),
        **{f"times_{name}": round(seconds[name][1] / ours, 2) for name in PEERS if name in seconds},
        "rss_mb": iterating,
        "rss_allowed_mb": round((6 * table.figures.edges + 40 * table.figures.nodes) / 1e6 + 300),
        **whole,
        "rounds": options.rounds,
    }


# -- a web to rank ----------------------------------------------------------------------------------------------


SEED = 20240229
CRAWLED = 0.8  # share of the pages; the others are only known
LINKS_AN_EDGE = 1.18  # the others repeat one, are not vouched for, or exceed the limit for one host
PAGES_A_SEGMENT, PAGES_A_GROUP = 80 * 1024, 2048


def web_like(nodes: int, edges: int) -> tuple[Numbers, Numbers, Numbers]:
    """Sources and targets of links, and the host of every node: most links stay near, some go to the famous."""
    random = np.random.default_rng(SEED)
    sizes = random.lognormal(4.5, 1.2, max(nodes // 200, 1))
    firsts = np.append(0, np.floor(np.cumsum(sizes) / sizes.sum() * nodes)).astype(np.int64)
    firsts[-1] = nodes
    host = np.repeat(np.arange(len(sizes)), np.diff(firsts))
    degrees = random.lognormal(0, 0.7, nodes) * (random.random(nodes) < CRAWLED)
    source = np.repeat(np.arange(nodes), np.round(degrees / degrees.sum() * edges * LINKS_AN_EDGE).astype(np.int64))
    famous = np.lexsort(
        (random.random(nodes), np.arange(nodes) - firsts[host])
    )  # home pages first, then the second ones
    target = np.empty_like(source)
    for start in range(0, len(source), 1 << 22):  # in pieces, or the temporaries take gigabytes
        part = slice(start, start + (1 << 22))
        of = host[source[part]]
        target[part] = _targets(random, source[part], firsts[of], firsts[of + 1], famous)
    return source, target, host


def _targets(random: np.random.Generator, source: Numbers, first: Numbers, last: Numbers, famous: Numbers) -> Numbers:
    count, kind = len(source), random.random(len(source))
    inside = first + ((last - first) * random.random(count) ** 1.5).astype(np.int64)
    near = source + np.rint(random.laplace(0, 100, count)).astype(np.int64)
    near = np.where((near >= first) & (near < last), near, inside)
    away = famous[(len(famous) * random.random(count) ** 4).astype(np.int64)]
    return np.where(kind < 0.4, near, np.where(kind < 0.75, inside, away))


def prepared(home: Path, nodes: int, edges: int) -> Collection:
    """The collection that holds the web, made when it is not there yet."""
    if not (home / "complete").exists():
        print(f"making a web of {nodes:,} pages and {edges:,} links in {home}", file=sys.stderr)
        write_web(create_collection(home), *web_like(nodes, edges))
        (home / "complete").touch()
    return open_collection(home)


def write_web(collection: Collection, source: Numbers, target: Numbers, host: Numbers) -> None:
    """The segments of a crawl of this web."""
    catalog, words = Catalog(collection.catalog, create=True), Words(host)
    bounds = np.searchsorted(source, np.arange(0, len(host) + PAGES_A_GROUP, PAGES_A_GROUP))
    done = catalog.last_segment(0)
    for number, first in enumerate(range(0, len(host), PAGES_A_SEGMENT), 1):
        if number <= done:
            continue
        paths = {kind: collection.segments / segment_name(kind, 0, number) for kind in ("pages", "links")}
        with (
            parquet.ParquetWriter(paths["pages"], PAGES, compression="zstd", compression_level=1) as pages,
            parquet.ParquetWriter(paths["links"], LINKS, compression="zstd", compression_level=1) as links,
        ):
            for start in range(first, min(first + PAGES_A_SEGMENT, len(host)), PAGES_A_GROUP):
                part = slice(*bounds[start // PAGES_A_GROUP : start // PAGES_A_GROUP + 2])
                pages.write_table(words.pages(np.unique(source[part])))
                links.write_table(words.links(source[part], target[part]))
        catalog.seal(0, number, [sealed(kind, path) for kind, path in paths.items()], {})
    catalog.close()


def sealed(kind: str, path: Path) -> SealedSegment:
    return SealedSegment(path.name, kind, parquet.read_metadata(path).num_rows, path.stat().st_size, file_digest(path))


class Words:
    """Addresses, names of hosts and anchor texts, by number."""

    def __init__(self, host: Numbers) -> None:
        random = np.random.default_rng(SEED)
        suffixes = ("com", "org", "net", "de", "co.uk")
        names = [f"www.site{n:06d}.{suffixes[n % len(suffixes)]}" for n in range(int(host[-1]) + 1)]
        urls = [f"https://{names[h]}/{n % 97:02d}/article-{n:08d}.html" for n, h in enumerate(host.tolist())]
        self._host, self._names, self._urls = host, pa.array(names), pa.array(urls)
        self._ids = pa.array([url_id(url) for url in urls], pa.binary(16))
        said = ["".join(random.choice(list("aeioulmnrst"), 6)) for _ in range(4000)]
        texts = [" ".join(random.choice(said, 1 + n % 4)) for n in range(200_000)]
        self._texts, self._random = pa.array([*texts, *["click here", "read more", "home"] * 2000]), random

    def pages(self, nodes: Numbers) -> pa.Table:
        ids = self._ids.take(nodes)
        known = {
            "url_id": ids,
            "url": self._urls.take(nodes),
            "host": self._names.take(self._host[nodes]),
            "fetched_at": pa.array(1e9 + nodes / 100),
            "content_id": pa.array([identity * 2 for identity in ids.to_pylist()], pa.binary(32)),
            "canonical": pa.array([""] * len(nodes)),
        }
        return pa.table([known.get(f.name, pa.nulls(len(nodes), f.type)) for f in PAGES], schema=PAGES)

    def links(self, source: Numbers, target: Numbers) -> pa.Table:
        text = (target * 3 + self._random.integers(0, 3, len(target))) % len(self._texts)
        columns = {
            "source_id": self._ids.take(source),
            "target_id": self._ids.take(target),
            "source_host": self._names.take(self._host[source]),
            "target_host": self._names.take(self._host[target]),
            "target": self._urls.take(target),
            "anchor": self._texts.take(text),
            "nofollow": pa.array(self._random.random(len(source)) < 0.01),
            "fetched_at": pa.array(1e9 + source / 100),
        }
        return pa.table([columns[name] for name in LINKS.names], schema=LINKS)


# -- iterations, side by side -----------------------------------------------------------------------------------

PEER_PROGRAM = """
import sys, time
import numpy as np
folder, iterations = sys.argv[1], int(sys.argv[2])
indptr, sources, degrees = (np.load(f"{folder}/{name}.npy", mmap_mode="r") for name in ("indptr", "sources", "degrees"))
nodes, starts = len(degrees), indptr.astype(np.int64)
"""
PEER_LOOP = """
print("ready", flush=True)
for _ in sys.stdin:
    print(*once(), flush=True)
"""
PEER_PROGRAMS = {
    "scipy": """
from scipy import sparse
ones = np.ones(len(sources), np.float32)
matrix = sparse.csr_array((ones, sources.astype(np.int32), starts.astype(np.int32)), shape=(nodes, nodes))
inverse = np.divide(1, degrees, out=np.zeros(nodes, np.float32), where=degrees > 0)
def once():
    rank = np.full(nodes, 1 / nodes, np.float32)
    marks = [time.perf_counter()]
    for _ in range(iterations):
        lost = 1 - 0.85 * rank[degrees > 0].sum()
        new = np.float32(0.85) * (matrix @ (rank * inverse)) + np.float32(lost / nodes)
        change, rank = np.abs(new - rank).sum(), new
        marks.append(time.perf_counter())
    return np.diff(marks).min(), np.diff(marks).mean()
""",
    "networkit": """
import networkit
from scipy import sparse
networkit.setNumberOfThreads(2)
targets = np.repeat(np.arange(nodes, dtype=np.uint64), np.diff(starts))
graph = networkit.GraphFromCoo((sources.astype(np.uint64), targets), n=nodes, directed=True)
del targets
def once():
    ranking = networkit.centrality.PageRank(graph, 0.85, 1e-30)
    ranking.maxIterations = iterations
    begun = time.perf_counter()
    ranking.run()
    return 2 * [(time.perf_counter() - begun) / ranking.numberOfIterations()]  # single ones cannot be timed
""",
}


def contest(folder: Path, peers: list[str], cache: Path, rounds: int) -> dict[str, tuple[float, float]]:
    """The best single pass and the best mean of a round of everybody; all run in each round, so that a slow moment of
    the machine hits all alike.
    """
    asked: dict[str, list[tuple[float, float]]] = {}
    with seated(folder, peers, cache) as contestants:
        for _ in range(rounds):
            for name, process in contestants.items():
                asked.setdefault(name, []).append(ask(name, process))
    best = {name: (min(one for one, _ in found), min(mean for _, mean in found)) for name, found in asked.items()}
    print(f"seconds a pass, best and best mean of a round: {best}", file=sys.stderr)
    return best


@contextmanager
def seated(folder: Path, peers: list[str], cache: Path) -> Iterator[dict[str, subprocess.Popen[str]]]:
    """A process for each contestant, ready to run when it is told to."""
    commands = {role: [sys.executable, __file__, "--role", role, "--folder", str(folder)] for role in ("floor", "ours")}
    for name in peers:
        python = venvs.provision(f"rank-{name}", PEERS[name], cache)
        program = PEER_PROGRAM + PEER_PROGRAMS[name] + PEER_LOOP
        commands[name] = [str(python), "-c", program, str(folder), str(ITERATIONS)]
    processes: dict[str, subprocess.Popen[str]] = {}
    try:
        for name, command in commands.items():
            print(f"{name}: getting ready", file=sys.stderr)
            processes[name] = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            if answer(name, processes[name]) != "ready":
                raise BenchError(f"{name} did not get ready")
        yield processes
    finally:
        for process in processes.values():
            process.kill()
            process.communicate()


def ask(name: str, process: subprocess.Popen[str]) -> tuple[float, float]:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()
    best, mean = map(float, answer(name, process).split())
    return best, mean


def answer(name: str, process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise BenchError(f"{name} ended early; its message is above")
    return line


def play_floor(folder: Path) -> None:
    """One pass over the ids of all links, by as many threads as there are cores."""
    sources = RankTable(Generation(folder)).all_sources
    pieces = np.array_split(np.asarray(sources), 32)
    stream(pieces[0])
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:

        def once() -> list[float]:
            marks = [time.perf_counter()]
            for _ in range(ITERATIONS):
                list(threads.map(stream, pieces))
                marks.append(time.perf_counter())
            return marks

        play(once)


@numba.njit(nogil=True)
def stream(ids: NDArray[np.uint32]) -> int:
    total = np.uint32(0)
    for number in ids:
        total += number
    return int(total)


def play_ours(folder: Path) -> None:
    """Iterations of the kernel that `periplus rank` runs, on the files that it wrote."""
    table = RankTable(Generation(folder))
    links = Links(table.indptr, table.all_sources, table.degrees)
    page_ranks(links, Walk(iterations=1))

    def once() -> list[float]:
        marks: list[float] = []
        page_ranks(links, Walk(tolerance=0, iterations=ITERATIONS), watch=lambda *_: marks.append(time.perf_counter()))
        return marks

    play(once)


def play(once: Callable[[], list[float]]) -> None:
    print("ready", flush=True)
    for _ in sys.stdin:
        passes = np.diff(once())
        print(passes.min(), passes.mean(), flush=True)


# -- the whole way ----------------------------------------------------------------------------------------------


def whole_way(collection: Collection) -> dict[str, Any]:
    """From segments to published ranks in a fresh process: seconds, and CPU and memory by step."""
    print("from links to ranks", file=sys.stderr)
    command = [sys.executable, __file__, "--role", "all", "--folder", str(collection.home)]
    cores = sorted(os.sched_getaffinity(0))
    begun, busy = time.monotonic(), busy_seconds(cores)
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.monotonic() - begun
    if result.returncode:
        raise BenchError("periplus rank failed; its message is above")
    found: dict[str, Any] = json.loads(result.stdout)
    others = max(0.0, busy_seconds(cores) - busy - found.pop("cpu_seconds")) / (seconds * len(cores))
    return {**found, "links_to_ranks_seconds": round(seconds, 1), "others_share": round(others, 3)}


def play_all(home: Path) -> None:
    collection = open_collection(home)
    catalog = Catalog(collection.catalog)
    links = sum(segment.rows for segment in catalog.segments("links"))
    catalog.close()
    with Phases() as phases:
        summary = rank(collection, LinkAnalysis(memory_mb=MEMORY >> 20), progress=phases.enter)
    cpu, peak = phases.cpu, phases.peak
    building = [name for name in cpu if name in ("start", *BUILDING)]
    found = {
        "links": links,
        "iterations": summary.iterations,
        "links_per_core_second": round(links / sum(cpu[name] for name in building)),
        "building_rss_mb": max(peak.get(name, 0) for name in building),
        "building_allowed_mb": round((MEMORY + 8 * summary.edges) / 1e6 + 300),
        "anchors_rss_mb": peak["collecting anchor texts"],
        "iterating": peak["iteration"],
        "steps": summary.steps,
        "cpu_seconds": time.process_time(),
    }
    print(json.dumps(found))


BUILDING = ("folding the addresses that are one page", "numbering pages", "reading links")


class Phases:
    """CPU time and peak memory of this process, by step."""

    def __init__(self) -> None:
        self.cpu: dict[str, float] = {}
        self.peak: dict[str, int] = {}
        self._name, self._since = "start", time.process_time()
        self._over = threading.Event()
        self._sampler = threading.Thread(target=self._sample)

    def __enter__(self) -> Phases:
        self._sampler.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.enter("end")
        self._over.set()
        self._sampler.join()

    def enter(self, step: str) -> None:
        now = time.process_time()
        self.cpu[self._name] = self.cpu.get(self._name, 0.0) + now - self._since
        self._name, self._since = "iteration" if step.startswith("iteration") else step, now

    def _sample(self) -> None:
        while not self._over.wait(0.05):
            resident = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            self.peak[self._name] = max(self.peak.get(self._name, 0), round(resident / 1e6))


ROLES = {"floor": play_floor, "ours": play_ours, "all": play_all}

if __name__ == "__main__":
    sys.exit(main())
