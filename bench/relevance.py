"""Measures nDCG of the first ten results, with public test collections that have human judgements."""

from __future__ import annotations

import argparse
import io
import json
import lzma
import math
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny, made_text
from periplus import __version__
from periplus.config import Settings
from periplus.index.writer import IndexWriter
from periplus.search.engine import Mode, SearchEngine
from periplus.search.score import NEUTRAL_QUALITY
from periplus.store.collection import Collection, create_collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.url import url_id

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "ir"
FLOORS = {"cranfield": 0.375, "cacm": 0.490, "nfcorpus": 0.330}  # BM25 as others have it
FIRST = 10  # results that count


@dataclass(frozen=True)
class Judged:
    """Documents, questions, and how well which document answers which question."""

    documents: list[dict[str, str]]
    queries: dict[str, str]
    answers: dict[str, dict[str, int]]  # grade by document, by question


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--mode", choices=[mode.value for mode in Mode], default=Mode.AUTO.value, help="(%(default)s)")
    parser.add_argument("--data", type=Path, default=FOLDER, help="where the collections lie (%(default)s)")
    add_tiny(parser)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Indexes each collection, asks all its questions, and compares."""
    if not options.tiny:
        return compared(options.data, options.mode)
    with tempfile.TemporaryDirectory(prefix="relevance-") as folder:
        make_collections(Path(folder))
        return compared(Path(folder), options.mode)


def compared(data: Path, mode: str) -> dict[str, Any]:
    if not data.is_dir():
        raise BenchError(f"there are no test collections in {data}; --data names their folder")
    result: dict[str, Any] = {"bench": "relevance", "version": __version__, "mode": mode}
    for name, floor in FLOORS.items():
        judged = read(data / f"{name}.tar.xz")
        with tempfile.TemporaryDirectory(prefix="relevance-") as home:
            figures = measured(judged, shelved(judged, create_collection(Path(home))), mode)
        result[name] = {"documents": len(judged.documents), **figures, "floor": floor}
    return result


def make_collections(folder: Path) -> None:
    """Write collections of the same form for a tiny run; each question is the title of one document."""
    for name in FLOORS:
        documents = [
            {"id": str(number), "title": made_text(f"{name} {number}", 4), "text": made_text(f"{number} {name}", 40)}
            for number in range(20)
        ]
        files = {
            "docs.jsonl": "\n".join(map(json.dumps, documents)),
            "queries.tsv": "\n".join(f"{document['id']}\t{document['title']}" for document in documents),
            "qrels.txt": "\n".join(f"{document['id']} 0 {document['id']} 1" for document in documents),
        }
        with tarfile.open(folder / f"{name}.tar.xz", "w:xz") as archive:
            for path, content in files.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content.encode("ascii")))


def read(path: Path) -> Judged:
    """One collection as it is handed around: docs.jsonl, queries.tsv, qrels.txt."""
    with lzma.open(path) as packed, tarfile.open(fileobj=io.BytesIO(packed.read())) as archive:
        files = {entry.name: file.read().decode() for entry in archive if (file := archive.extractfile(entry))}
    answers: dict[str, dict[str, int]] = {}
    for line in files["qrels.txt"].splitlines():
        query, _, document, grade = line.split()
        answers.setdefault(query, {})[document] = int(grade)
    queries = dict(line.split("\t", 1) for line in files["queries.tsv"].splitlines())
    return Judged([json.loads(line) for line in files["docs.jsonl"].splitlines()], queries, answers)


def shelved(judged: Judged, collection: Collection) -> Collection:
    """The documents as pages of one site each, equal in rank and in links."""
    generations, settings = Generations(collection.index, INDEX_KIND), Settings().index
    with generations.writing() as folder:
        with IndexWriter(folder, settings, ["en"]) as writer:
            for row in rows(judged):
                writer.add(row)
            documents = writer.finish()
        facts: dict[str, Any] = {"documents": documents, "duplicates": 0, "ranks": 0}
        facts |= {"prior_strength": settings.prior_strength, "languages": {"en": documents}}
        generations.publish(folder, facts, settings.generations)
    return collection


def rows(judged: Judged) -> Iterator[Mapping[str, Any]]:
    empty = {"description": "", "keywords": "", "categories": [], "headings": [], "anchors": [], "copies": []}
    about = {
        "language": "en",
        "mime": "text/html",
        "fetched_at": 0.0,
        "archive": None,
        "published": None,
        "modified": None,
        "features": None,
        "rank": 1.0,
        "quality": NEUTRAL_QUALITY,
    }
    nothing: dict[str, Any] = {"link_count": 0, "links": [], "images": [], "videos": []}
    for number, document in enumerate(judged.documents):
        url = f"http://{number}.test/"
        place = {"number": number, "url": url, "url_id": url_id(url), "host": f"{number}.test"}
        words = {"title": document["title"], "short_title": document["title"], "text": document["text"]}
        yield {**empty, **about, **nothing, **place, **words}


def measured(judged: Judged, collection: Collection, mode: str) -> dict[str, Any]:
    """The nDCG over all questions that have answers, and how long a question takes."""
    gains, seconds = [], []
    with closing(SearchEngine.open(collection, Settings())) as engine:
        for query, grades in judged.answers.items():
            if not any(grade > 0 for grade in grades.values()) or query not in judged.queries:
                continue
            started = time.perf_counter()
            hits = engine.search(judged.queries[query], size=FIRST, mode=mode).hits
            seconds.append(time.perf_counter() - started)
            found = [judged.documents[int(hit.host.partition(".")[0])]["id"] for hit in hits]
            gains.append(ndcg([grades.get(document, 0) for document in found], list(grades.values())))
    return {"queries": len(gains), "ndcg_10": round(mean(gains), 4), "ms_per_query": round(mean(seconds) * 1e3, 1)}


def ndcg(found: list[int], possible: list[int]) -> float:
    """The grades found, the later the less, as a share of the best order there could be."""
    return _discounted(found) / _discounted(sorted(possible, reverse=True)[:FIRST])


def _discounted(grades: list[int]) -> float:
    return sum(max(grade, 0) / math.log2(place + 2) for place, grade in enumerate(grades))


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
