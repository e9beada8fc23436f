"""The figures of a crawl become lines that Prometheus can read."""

from __future__ import annotations

from periplus.inspector.crawl_metrics import CRAWL_METRICS, crawl_metrics
from site_figures import figures

FIGURES = {
    "pages": 1_234_567,
    "bytes": 98_765_432_109,
    "types": {"html": 1_200_000, "pdf": 4_567, "other": 30_000},
    "errors": {"timeout": 12, "dns": 3},
    "queued": {"memory": 100_000, "disk": 9_900_000},
    "workers": {"running": 2, "paused": 0},
    "nodes": {"live": 3, "silent": 1},
    "waiting": {"crawl-1": 4_096},
    "freshness": 31.5,
    "index_pages": 1_000_000,
}


def test_every_figure_is_a_line() -> None:
    assert figures(crawl_metrics(FIGURES)) == {
        "periplus_crawl_pages_total": 1_234_567,
        "periplus_crawl_bytes_total": 98_765_432_110,  # ten digits
        'periplus_crawl_pages_by_type_total{type="html"}': 1_200_000,
        'periplus_crawl_pages_by_type_total{type="other"}': 30_000,
        'periplus_crawl_pages_by_type_total{type="pdf"}': 4_567,
        'periplus_crawl_errors_total{kind="dns"}': 3,
        'periplus_crawl_errors_total{kind="timeout"}': 12,
        'periplus_crawl_queue_urls{where="disk"}': 9_900_000,
        'periplus_crawl_queue_urls{where="memory"}': 100_000,
        'periplus_crawl_workers{state="paused"}': 0,
        'periplus_crawl_workers{state="running"}': 2,
        'periplus_fleet_nodes{state="live"}': 3,
        'periplus_fleet_nodes{state="silent"}': 1,
        'periplus_fleet_waiting_bytes{node="crawl-1"}': 4_096,
        "periplus_crawl_freshness_seconds": 31.5,
        "periplus_crawl_index_pages": 1_000_000,
    }


def test_every_metric_has_one_help_and_one_type() -> None:
    text = crawl_metrics(FIGURES)
    assert text.count("# HELP ") == text.count("# TYPE ") == len(CRAWL_METRICS)
    for name, (metric, _) in CRAWL_METRICS.items():
        assert f"# TYPE {name} {metric.kind}\n" in text
        assert name.endswith("_total") == (metric.kind == "counter")


def test_a_figure_that_is_not_known_has_no_line() -> None:
    assert crawl_metrics({}) == ""
    assert list(figures(crawl_metrics({"pages": 0, "freshness": None}))) == ["periplus_crawl_pages_total"]


def test_a_label_cannot_start_a_new_line() -> None:
    text = crawl_metrics({"errors": {'a"b\\c\nd': 1}})
    assert text.splitlines()[-1] == r'periplus_crawl_errors_total{kind="a\"b\\c\nd"} 1'
