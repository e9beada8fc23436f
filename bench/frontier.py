"""Measures the links per second that the frontier admits, and the memory and disk space of ten million known URLs.

The web is synthetic: hosts of very different size, paths that share folders, links to nearby pages. New URLs go through
admission into the durable catalog, in commits. Known links are joined from base and href, made canonical, and found in
the seen filter. The bench uses one core; rates are per CPU second.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from harness.errors import BenchError
from harness.report import report
from harness.tiny import add_tiny
from periplus.config import Addresses, Scope
from periplus.frontier.admission import Admission, open_admission
from periplus.model import QueuedUrl, Reason
from periplus.store.catalog.batch import Batch, Written
from periplus.store.catalog.catalog import Catalog
from periplus.store.collection import create_collection
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.url import Canonicalizer

BATCH = 5_000
NEW_LINKS = 14  # new links per page of the open web
SCOPE = Scope(hosts=[".*"], pages_per_domain=1 << 40, hosts_per_domain=1 << 40)
ARCHIVE = Written(0, "w00-000001.warc.gz", 0)


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--urls", type=int, default=10_000_000, help="known URLs (10 million)")
    parser.add_argument("--hosts", type=int, default=20_000, help="hosts they spread over (20,000)")
    parser.add_argument("--links", type=int, default=500_000, help="known links to admit (500,000)")
    parser.add_argument("--folder", type=Path, help="where to build the collection (the system's temporary folder)")
    add_tiny(parser, urls=20_000, hosts=50, links=2_000)
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory(prefix="frontier-", dir=options.folder) as home:
        return {"bench": "frontier", **measured(Path(home), options.urls, options.hosts, options.links)}


def measured(home: Path, urls: int, hosts: int, links: int) -> dict[str, float]:
    """Fills a collection in a child process, whose memory does not count; then opens it and admits known links."""
    catalog_file = create_collection(home).catalog
    reader, writer = os.pipe()
    if not (child := os.fork()):
        os.write(writer, json.dumps(fill(catalog_file, urls, hosts)).encode())
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        raise BenchError("filling the catalog failed")
    filled = json.loads(os.read(reader, 4096))
    catalog = Catalog(SqliteDatabase(catalog_file))
    started = time.monotonic()
    admission = open_admission(catalog, SCOPE)
    open_seconds = time.monotonic() - started
    known = admit_known(admission, hosts, links)
    catalog.close()
    disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    return {
        "urls": urls,
        **filled,
        "known_per_second": round(known),
        "open_seconds": round(open_seconds, 2),
        "rss_mb": round(resident_mb(), 1),
        "disk_bytes_per_url": round(disk / urls, 1),
    }


def fill(catalog_file: Path, urls: int, hosts: int) -> dict[str, float]:
    """Admits and commits new URLs; returns the rate of all URLs and of the last tenth."""
    catalog = Catalog(SqliteDatabase(catalog_file, create=True))
    admission, run_id = open_admission(catalog, SCOPE), catalog.begin_run({})
    sizes = [0] * hosts
    batch, done = Batch(), 0
    started = last_tenth = time.process_time()
    for host in visited_hosts(hosts, urls // NEW_LINKS + 1, seed=7):
        for _ in range(NEW_LINKS):
            sizes[host] += 1
            batch.admitted.append(admitted(admission, address(host, sizes[host])))
        if len(batch.admitted) >= BATCH:
            catalog.commit(batch, ARCHIVE, run_id, {})
            done += len(batch.admitted)
            batch = Batch()
            if done < 0.9 * urls:
                last_tenth = time.process_time()
    catalog.commit(batch, ARCHIVE, run_id, {})
    ended = time.process_time()
    catalog.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "new_per_second": round(urls / (ended - started)),
        "new_per_second_last_tenth": round(0.1 * urls / max(ended - last_tenth, 1e-9)),
        "writer_peak_rss_mb": round(peak, 1),
    }


def admitted(admission: Admission, url: str) -> QueuedUrl:
    item = admission.admit(url, depth=3, reason=Reason.LINK, via="https://www.example.org/")
    if not isinstance(item, QueuedUrl):
        raise SystemExit(f"{url} was not admitted: {item}")
    return item


def admit_known(admission: Admission, hosts: int, links: int) -> float:
    """Known links per CPU second, from base and href."""
    canonicalizer = Canonicalizer(Addresses().tracking_parameters, Addresses().session_parameters)
    work = [
        (address(host, 5), f"../../{page // 100}/topic-{page % 100}/article-{page}.html")
        for host in visited_hosts(hosts, links // NEW_LINKS, seed=8)
        for page in range(1, NEW_LINKS + 1)
    ]
    started = time.process_time()
    for base, href in work:
        url = canonicalizer.join(base, href)
        if url is not None:
            admission.admit(url, depth=4, reason=Reason.LINK, via=base)
    return len(work) / (time.process_time() - started)


def visited_hosts(hosts: int, pages: int, seed: int) -> list[int]:
    """Hosts in the order of their pages; a few are large, most are small."""
    weights = [1 / (number + 1) ** 0.7 for number in range(hosts)]
    return random.Random(seed).choices(range(hosts), weights, k=pages)


def address(host: int, page: int) -> str:
    """Pages of a host share folders, as on real sites."""
    name = f"www{host}.site{host % 7919}.example.org"
    return f"https://{name}/section/{page // 100}/topic-{page % 100}/article-{page}.html"


def resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
