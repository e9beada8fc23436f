"""Measures the CPU time of building the index, beside raw tantivy and Lucene with the same documents."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from indexing import lucene, measure
from indexing.corpus import real_corpus, small_corpus
from periplus import __version__
from periplus.store.collection import Collection

CACHE = Path(__file__).with_name(".cache")
MILLION = 1_000_000


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--pages", type=int, default=120_000, help="pages to index, at most (%(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="builds of each kind; the best counts (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, pages=18, rounds=1)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache, tempfile.TemporaryDirectory(prefix="index-") as folder:
        if options.tiny:
            collection = small_corpus(Path(folder) / "home", made_web(cache, "{name}.test"))
        else:
            collection = real_corpus(cache, options.pages)
        result = measured(collection, Path(folder) / "documents", options.rounds)
        result |= beside_lucene(result, Path(folder) / "documents", cache, options)
        return result


def beside_lucene(result: dict[str, Any], documents: Path, cache: Path, options: argparse.Namespace) -> dict[str, Any]:
    """The figures of Lucene; None where it cannot be had, or in a tiny run, which downloads nothing."""
    none = {"lucene_version": None, "lucene_cpu_seconds": None, "times_lucene": None}
    if options.tiny:
        return none
    try:
        peer, saved = lucene.Lucene(cache), documents.with_name("documents-for-lucene")
        lucene.save(measure.loaded(documents), saved)
        runs = [peer.cpu_seconds(saved, measure.THREADS, measure.HEAP >> 20) for _ in range(options.rounds)]
    except BenchError as problem:
        print(f"Lucene is left out: {problem}", file=sys.stderr)
        return none
    times = round(result["cpu_seconds"] / min(runs), 2)
    return {"lucene_version": peer.version, "lucene_cpu_seconds": round(min(runs), 2), "times_lucene": times}


def measured(collection: Collection, documents: Path, rounds: int) -> dict[str, Any]:
    measure.save_documents(collection, documents)
    plains, forwards, vectors, raws = [], [], [], []
    for _ in range(rounds):  # every kind once, so that a busy moment of the machine affects all of them
        plains.append(measure.ours(collection, forward=False))
        vectors.append(measure.ours(collection, forward=True, vectors=True))
        forwards.append(measure.ours(collection, forward=True))
        raws.append(measure.raw_tantivy(forwards[-1].folder, documents))
    plain, with_vectors, forward, raw = best(plains), best(vectors), best(forwards), min(raws)
    sizes = {name: _size(forward.folder, *patterns) for name, patterns in PARTS.items()}
    text = measure.text_bytes(documents)
    return {
        "bench": "index",
        "version": __version__,
        "cores": os.cpu_count(),
        "documents": forward.documents,
        "text_mb": round(text / 1e6, 1),
        "cpu_seconds": round(forward.cpu_seconds, 2),
        "raw_tantivy_cpu_seconds": round(raw, 2),
        "times_raw_tantivy": round(plain.cpu_seconds / raw, 2),
        "times_raw_tantivy_with_forward": round(forward.cpu_seconds / raw, 2),
        "vectors_cpu_seconds": round(with_vectors.cpu_seconds - forward.cpu_seconds, 2),
        **{f"{name}_to_text": round(size / text, 3) for name, size in sizes.items()},
        "seconds_per_million_on_2_cores": round(forward.seconds / max(forward.documents, 1) * MILLION),
    }


PARTS = {"index": ("tantivy/*",), "page_store": ("*.dat", "*.npy"), "forward": ("forward/*",)}


def best(builds: list[measure.Built]) -> measure.Built:
    return min(builds, key=lambda built: built.cpu_seconds)


def _size(folder: Path, *patterns: str) -> int:
    return sum(path.stat().st_size for pattern in patterns for path in folder.glob(pattern))


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
