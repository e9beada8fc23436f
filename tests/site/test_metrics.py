"""The figures of several server processes are added up, and counters never decrease."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from periplus.site.metrics import Metrics
from site_figures import figures


def saved_by_another_process(folder: Path, requests: int) -> int:
    """Figures of a process that has ended; returns its number."""
    script = f"""
import sys
from pathlib import Path
from periplus.site.metrics import Metrics
metrics = Metrics(Path({str(folder)!r}))
metrics.gauge("periplus_search_queue_length", lambda: 5)
metrics._timer = object()  # no event loop here
for _ in range({requests}):
    metrics.request("/search", 200, 0.02)
metrics._timer = None
metrics.save()
"""
    process = subprocess.Popen([sys.executable, "-c", script])
    assert process.wait() == 0
    return process.pid


def test_the_processes_are_added_up(tmp_path: Path) -> None:
    mine = Metrics(tmp_path)
    mine.gauge("periplus_search_queue_length", lambda: 1)
    saved_by_another_process(tmp_path, 3)
    living = saved_by_another_process(tmp_path, 4)
    (tmp_path / f"{living}.json").rename(tmp_path / f"{os.getppid()}.json")  # as of a process that runs
    found = figures(mine.text())
    assert found['periplus_http_requests_total{route="/search",status="200"}'] == 7
    assert found['periplus_http_request_seconds_bucket{route="/search",le="0.01"}'] == 0
    assert found['periplus_http_request_seconds_bucket{route="/search",le="0.025"}'] == 7
    assert found['periplus_http_request_seconds_sum{route="/search"}'] == pytest.approx(0.14)
    assert found["periplus_search_queue_length"] == 6, "of the processes that run"
    assert found["periplus_processes"] == 2


def test_own_figures_are_not_counted_twice(tmp_path: Path) -> None:
    metrics = Metrics(tmp_path)
    metrics.save()
    assert figures(metrics.text())["periplus_processes"] == 1


def test_a_bucket_contains_its_bound() -> None:
    metrics = Metrics()
    metrics.request("/", 200, 0.005)
    metrics.request("/", 200, 60.0)
    found = figures(metrics.text())
    assert found['periplus_http_request_seconds_bucket{route="/",le="0.005"}'] == 1
    assert found['periplus_http_request_seconds_bucket{route="/",le="5.0"}'] == 1
    assert found['periplus_http_request_seconds_bucket{route="/",le="+Inf"}'] == 2


def test_a_label_is_escaped() -> None:
    metrics = Metrics()
    metrics.search({'odd "name"\n\\': 1.0})
    assert r'{step="odd \"name\"\n\\"} 1' in metrics.text()
