"""How many links a second does the frontier admit, and what do ten million known URLs cost?

A synthetic web: hosts of very different size, paths with shared folders, links mostly inside a host. New URLs go
through admission into the durable catalog in commits of one second's worth; known links are joined from base and href,
canonicalised, checked against the scope and found in the seen filter. One core.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from periplus.config import Scope
from periplus.frontier.admission import Admission
from periplus.frontier.scope import ScopeRules
from periplus.frontier.seen import SeenFilter
from periplus.model import QueuedUrl, Reason
from periplus.store.catalog import Catalog
from periplus.store.collection import create_collection
from periplus.store.ledger import Batch, Written
from periplus.url import Canonicalizer, host_of, url_key
import numpy as np
from itertools import islice

_BATCH = 5_000
_SCOPE = Scope(hosts=[".*"], pages_per_domain=1 << 40)


def main() -> int:
    """Prints one JSON object, or a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--urls", type=int, default=10_000_000, help="known URLs (10 million)")
    parser.add_argument("--hosts", type=int, default=20_000)
    parser.add_argument("--links", type=int, default=300_000, help="known links to admit")
    parser.add_argument("--folder", type=Path, help="where to build the collection (a temporary folder)")
    options = parser.parse_args()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    home = Path(tempfile.mkdtemp(prefix="frontier-", dir=options.folder))
    try:
        result = bench(home, options.urls, options.hosts, options.links)
    finally:
        shutil.rmtree(home)
    print(json.dumps(result) if options.json else "\n".join(f"{key:18} {value}" for key, value in result.items()))
    return 0


def bench(home: Path, urls: int, hosts: int, links: int) -> dict[str, float]:
    """Fill a collection, open it again, ask it for what it knows."""
    collection = create_collection(home)
    catalog = Catalog(collection.catalog, create=True)
    fill_seconds, last_rate = fill(catalog, urls, hosts)
    catalog.close()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    catalog = Catalog(collection.catalog)
    started = time.process_time()
    admission = open_admission(catalog, _SCOPE)
    open_seconds = time.process_time() - started
    known = ask(admission, hosts, links)
    disk = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
    catalog.close()
    return {
        "urls": urls,
        "hosts": hosts,
        "new_per_second": round(urls / fill_seconds),
        "new_per_second_at_the_end": round(last_rate),
        "known_per_second": round(known),
        "open_seconds": round(open_seconds, 2),
        "rss_mb": round(resident_mb(), 1),
        "peak_rss_mb": round(max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024, 1),
        "disk_bytes_per_url": round(disk / urls, 1),
    }


def open_admission(catalog, scope):
    seen=SeenFilter()
    it=catalog.known_urls()
    while chunk := [url_key(u) for u in islice(it, 65536)]:
        seen.add_many(np.array(chunk,np.uint64))
    return Admission(ScopeRules(scope), seen, catalog.domain_sizes(), scope.pages_per_domain)


def url_of(host: int, page: int) -> str:
    """Page numbers share folders, as real sites do."""
    return f"https://www{host}.site{host % 7919}.example.org/section/{page // 100}/topic-{page % 100}/article-{page}.html"


def fill(catalog: Catalog, urls: int, hosts: int) -> tuple[float, float]:
    admission = Admission(ScopeRules(_SCOPE), SeenFilter(), {}, 1 << 40)
    rng = random.Random(7)
    run = catalog.begin_run({})
    weights = [1 / (n + 1) ** 0.7 for n in range(hosts)]
    sizes=[0]*hosts
    picks = rng.choices(range(hosts), weights, k=urls // 14 + 1)
    started = time.process_time(); done = 0; rate = 0.0
    batch = Batch(); mark=(started,0)
    for host in picks:
        # a page discovers 14 new neighbours
        for _ in range(14):
            sizes[host]+=1
            item = admission.admit(url_of(host, sizes[host]), depth=3, reason=Reason.LINK, via="https://x.example.org/")
            assert isinstance(item, QueuedUrl)
            batch.admitted.append(item); done += 1
        if len(batch.admitted) >= _BATCH:
            catalog.commit(batch, Written(0, "w00-000001.warc.gz", 0), run, {})
            batch = Batch()
            now=time.process_time()
            if done-mark[1] > 200_000:
                rate=(done-mark[1])/(now-mark[0]); mark=(now,done); print(done, round(rate), file=sys.stderr)
        if done >= urls: break
    catalog.commit(batch, Written(0, "w00-000001.warc.gz", 0), run, {})
    return time.process_time()-started, rate


def ask(admission, hosts: int, links: int) -> float:
    rng = random.Random(8); canon = Canonicalizer(["utm_*"],["sid"])
    weights = [1 / (n + 1) ** 0.7 for n in range(hosts)]
    work=[(url_of(h,5), f"../topic-{p%100}/article-{p}.html") for h in rng.choices(range(hosts),weights,k=links//50) for p in range(1,51)]
    started=time.process_time()
    for base, href in work:
        admission.admit(canon.join(base, href), depth=4, reason=Reason.LINK, via=base)
    return len(work)/(time.process_time()-started)


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1])*4096/1e6


if __name__ == "__main__":
    sys.exit(main())
