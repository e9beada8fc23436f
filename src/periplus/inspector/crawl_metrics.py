"""Writes the figures of a crawl in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from periplus.inspector.prometheus import Metric, header, value_line

# By metric: how it is exported, and the key of its figure. The figure of a metric with a label is a table: label to
# number.
CRAWL_METRICS: dict[str, tuple[Metric, str]] = {
    "periplus_crawl_pages_total": (Metric("counter", "Pages fetched."), "pages"),
    "periplus_crawl_bytes_total": (Metric("counter", "Bytes of fetched pages."), "bytes"),
    "periplus_crawl_pages_by_type_total": (Metric("counter", "Pages fetched by type.", ("type",)), "types"),
    "periplus_crawl_errors_total": (Metric("counter", "Failed requests by reason.", ("kind",)), "errors"),
    "periplus_crawl_queue_urls": (Metric("gauge", "Queued URLs in memory and on disk.", ("where",)), "queued"),
    "periplus_crawl_workers": (Metric("gauge", "Crawl workers by state.", ("state",)), "workers"),
    "periplus_fleet_nodes": (Metric("gauge", "Registered nodes of the fleet by state.", ("state",)), "nodes"),
    "periplus_fleet_waiting_bytes": (
        Metric("gauge", "Bytes of archive files that nodes have not uploaded.", ("node",)),
        "waiting",
    ),
    "periplus_crawl_freshness_seconds": (
        Metric("gauge", "Age of the oldest fetched page that is not searchable yet."),
        "freshness",
    ),
    "periplus_crawl_index_pages": (Metric("gauge", "Pages in the index."), "index_pages"),
}


def crawl_metrics(figures: Mapping[str, Any]) -> str:
    """The figures in the text format.

    Keys: `pages`, `bytes`, `freshness` (seconds), `index_pages`, and the tables `types` (html, pdf, other), `errors`
    (by reason), `queued` (memory, disk), `workers` and `nodes` (by state) and `waiting` (bytes by node). A missing key
    or None is left out.
    """
    return "".join(f"{line}\n" for line in _lines(figures))


def _lines(figures: Mapping[str, Any]) -> Iterator[str]:
    for name, (metric, key) in CRAWL_METRICS.items():
        found = figures.get(key)
        if found is None:
            continue
        yield from header(name, metric)
        if metric.labels:
            yield from (value_line(name, metric.labels, (label,), found[label]) for label in sorted(found))
        else:
            yield value_line(name, (), (), found)
