"""Measures nDCG of the first ten results, with public test collections that have human judgements."""

from __future__ import annotations

import argparse
import io
import json
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny, made_text
from periplus import __version__
from periplus.config import Settings
from periplus.evaluation.evaluate import OURS, evaluate, open_judged_index
from periplus.evaluation.judgements import read_judgements

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "ir"
FLOORS = {"cranfield": 0.375, "cacm": 0.490, "nfcorpus": 0.330}  # BM25 as others have it


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    parser.add_argument("--data", type=Path, default=FOLDER, help="where the collections lie (%(default)s)")
    add_tiny(parser)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    """Indexes each collection, searches all its queries, and compares our score with plain BM25."""
    if not options.tiny:
        return compared(options.data)
    with tempfile.TemporaryDirectory(prefix="relevance-") as folder:
        make_collections(Path(folder))
        return compared(Path(folder))


def compared(data: Path) -> dict[str, Any]:
    if not data.is_dir():
        raise BenchError(f"there are no test collections in {data}; --data names their folder")
    result: dict[str, Any] = {"bench": "relevance", "version": __version__}
    for name, floor in FLOORS.items():
        with tempfile.TemporaryDirectory(prefix="relevance-") as folder:
            with tarfile.open(data / f"{name}.tar.xz") as archive:
                archive.extractall(folder, filter="data")
            result[name] = {**measured(Path(folder)), "floor": floor}
    return result


def make_collections(folder: Path) -> None:
    """Write collections of the same form for a tiny run; each query is the title of one document."""
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


def measured(folder: Path) -> dict[str, Any]:
    """The nDCG of our score and of BM25 over all judged queries, and how long a query takes."""
    settings = Settings()
    with open_judged_index(folder, folder / "docs.jsonl", settings) as index:
        judged = read_judgements(folder / "queries.tsv", folder / "qrels.txt", index.key)
        started = time.perf_counter()
        ours = evaluate(index, judged, [OURS], settings)[OURS].means["ndcg@10"]
        seconds = (time.perf_counter() - started) / len(judged.queries)
        plain = evaluate(index, judged, ["bm25"], settings)["bm25"].means["ndcg@10"]
        return {
            "documents": index.size,
            "queries": len(judged.queries),
            "ndcg_10": round(ours, 4),
            "bm25_ndcg_10": round(plain, 4),
            "ratio": round(ours / plain, 4),
            "ms_per_query": round(seconds * 1e3, 1),
        }


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
