"""What do metrics and alerts say about the crawl of a collection? Reads the rows that its processes publish."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from periplus.config import Console
from periplus.inspector.alerts import Alert, Sample, find_alerts
from periplus.store.catalog.live_state import LiveState, NodeRow, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.catalog.queries import Queries
from periplus.store.collection import Collection

_ALERT_SECONDS = 3_900.0  # of samples: the last minutes, and the hour before them


def crawl_figures(collection: Collection) -> dict[str, Any]:
    """The figures that `crawl_metrics` writes; those of processes are missing while none reports."""
    with closing(open_catalog(collection, LiveState, read_only=True)) as live:
        now = time.time()
        rows = [row for row in live.workers() if not row.is_silent(now)]
        nodes = live.nodes()
    with closing(open_catalog(collection, Queries, read_only=True)) as catalog:
        counters = catalog.counters()
    crawl = [row for row in rows if row.role is Role.CRAWL]
    builder = next((row.figures for row in rows if row.role is Role.INDEX), {})
    memory = _sum(crawl, "buffered")
    return {
        "pages": counters["fetched"],
        "bytes": counters["bytes"],
        "queued": {"memory": memory, "disk": max(counters["queued"] - memory, 0)},
        "freshness": builder.get("freshness"),
        "index_pages": builder.get("documents"),
        **_of_workers(crawl),
        **_of_nodes(nodes),
    }


def _of_nodes(nodes: Sequence[NodeRow]) -> dict[str, Any]:
    if not nodes:
        return {}
    live, waiting = sum(node.is_live for node in nodes), Counter[str]()
    for node in nodes:  # two folders may have one name
        waiting[node.name] += node.waiting_bytes
    return {"nodes": {"live": live, "silent": len(nodes) - live}, "waiting": dict(waiting)}


def _of_workers(rows: Sequence[WorkerRow]) -> dict[str, Any]:
    if not rows:
        return {}
    errors: Counter[str] = Counter()
    for row in rows:
        errors.update(row.figures.get("errors", {}))
    return {
        "types": {name: _sum(rows, name) for name in ("html", "pdf", "other")},
        "errors": dict(errors),
        "workers": dict(Counter(row.state for row in rows)),
    }


def _sum(rows: Sequence[WorkerRow], name: str) -> int:
    return sum(int(row.figures.get(name, 0)) for row in rows)


def crawl_alerts(collection: Collection, limits: Console) -> list[Alert]:
    """What needs the attention of the owner, from the samples of the last hour."""
    now = time.time()
    with closing(open_catalog(collection, LiveState, read_only=True)) as live:
        samples = [Sample.of({"at": at, **figures}) for at, figures in live.samples(now - _ALERT_SECONDS)]
        is_paused = live.is_paused(collection.node)
    return find_alerts(samples, limits, is_paused=is_paused)
