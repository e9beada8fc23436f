"""How fast are archived pages read again?"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from harness import web
from harness.report import report
from harness.tiny import add_tiny, cache_of, made_web
from periplus import __version__
from periplus.archives.page_writer import PageWriter
from periplus.config import Settings, Storage
from periplus.model import Reason, Response
from periplus.reparse import reparse
from periplus.store.collection import Collection, create_collection

CACHE = Path(__file__).with_name(".cache")
SEGMENT_BYTES = 4 << 20  # small, so that every core has some


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--pages", type=int, default=4_000, help="pages in the archive, at most (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="measurements, of which the best counts (%(default)s)")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    add_tiny(parser, pages=10, rounds=1)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    with cache_of(options) as cache:
        runs = cache / "runs"
        runs.mkdir(parents=True, exist_ok=True)
        site_web = made_web(cache, "{name}.test") if options.tiny else web.prepare(cache, "{name}.test")
        with tempfile.TemporaryDirectory(prefix="reparse-", dir=runs) as home:
            settings, collection = Settings(store=Storage(segment_bytes=SEGMENT_BYTES)), create_collection(Path(home))
            size = fill(collection, settings, site_web, options.pages)
            rounds = [measured(collection, settings) for _ in range(options.rounds)]
    best = min(rounds, key=lambda one: one["cpu_seconds"])
    return {"bench": "reparse", "version": __version__, "cores": os.cpu_count(), "kb_per_page": size, **best}


def fill(collection: Collection, settings: Settings, pages: web.Web, wanted: int) -> float:
    """Put pages into an archive, as a crawl would; returns their average size in kB."""
    files = [(site, file) for site in pages.sites for file in sorted(site.root.rglob("*.html"))]
    total = 0
    with collection.locked() as held, closing(PageWriter(collection, settings, ["bench"], held)) as landing:
        chosen = files[:: max(len(files) // wanted, 1)][:wanted]
        for number, (site, file) in enumerate(chosen):
            body = file.read_bytes()
            total += len(body)
            answer = Response(
                f"http://{site.host}/{file.relative_to(site.root)}",
                float(number),
                status=200,
                head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
                headers={"content-type": "text/html"},
                body=body,
            )
            if not landing.has(answer.url, answer.fetched_at):
                landing.add_page(answer, Path("bench"), Reason.IMPORTED)
        landing.finish()
    return round(total / len(chosen) / 1e3, 1)


def measured(collection: Collection, settings: Settings) -> dict[str, Any]:
    """One reading of everything, with the CPU time of all processes that took part."""
    began, started = _cpu(), time.monotonic()
    done = reparse(collection, settings, everything=True)
    seconds, cpu = time.monotonic() - started, _cpu() - began
    return {
        "pages": done.pages,
        "segments": done.segments,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "pages_per_second": round(done.pages / seconds, 1),
        "pages_per_second_a_core": round(done.pages / cpu, 1),
        "cpu_ms_per_page": round(cpu * 1e3 / done.pages, 3),
    }


def _cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
