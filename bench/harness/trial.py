"""Measures one crawl by one crawler."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import accesslog, measure
from harness.crawler import Crawler, Job
from harness.errors import BenchError
from harness.machine import Cores
from harness.nginx import Server
from harness.web import Web

NOTICEABLE = 0.05  # share of core time used by other programs that causes a warning


@dataclass(frozen=True)
class Setup:
    """The parts that are the same for every crawler of a bench."""

    web: Web
    cache: Path
    serve: Callable[[Web, Path, int], AbstractContextManager[Server]]  # folder and core of the server
    cores: Cores
    concurrency: int
    timeout: float


def crawl(setup: Setup, crawler: Crawler, pages: int | None, workers: int = 1) -> dict[str, Any]:
    """Runs one crawler against a fresh server, and removes all files afterwards."""
    print(f"{crawler.name}: crawling {pages or 'all'} pages, {workers} worker(s)", file=sys.stderr)
    cores = setup.cores.first(workers)
    runs = setup.cache / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=runs, prefix=f"{crawler.name}-") as name:
        folder = Path(name)
        work = folder / "work"
        work.mkdir()
        with setup.serve(setup.web, folder / "server", setup.cores.server) as server:
            job = Job(setup.web, server.port, work, pages, workers, setup.concurrency)
            usage = measure.run(crawler.command(job), cores, work, setup.timeout)
        fetched = accesslog.read(server.log, {site.host for site in setup.web.sites})
        _check(crawler, usage, fetched, work)
        return {**_row(fetched, usage, cores, workers, pages), **crawler.remarks(work)}


def _check(crawler: Crawler, usage: measure.Usage, fetched: accesslog.Fetched, work: Path) -> None:
    worked = usage.timed_out or usage.exit_code in crawler.good_exits
    if not worked or fetched.pages == 0:
        how = "was stopped by --timeout" if usage.timed_out else f"exited with {usage.exit_code}"
        tail = (work / "stderr.txt").read_text(errors="replace").strip()[-800:] or "it printed nothing"
        raise BenchError(f"{crawler.name} {how} after {fetched.pages} pages: {tail}")
    if usage.others > NOTICEABLE:
        warning = f"warning: other programs took {usage.others:.0%} of the crawler's core; pages/s is too low"
        print(warning, file=sys.stderr)


def _row(
    fetched: accesslog.Fetched, usage: measure.Usage, cores: Sequence[int], workers: int, budget: int | None
) -> dict[str, Any]:
    return {
        "pages": fetched.pages,
        "cpu_ms_per_page": round(1000 * usage.cpu_seconds / fetched.pages, 3),
        "pages_per_second": round(fetched.pages / usage.seconds, 1),
        "rss_mb": round(usage.rss_mb, 1),
        "seconds": round(usage.seconds, 2),
        "cpu_seconds": round(usage.cpu_seconds, 2),
        "cores_used": round(usage.cpu_seconds / usage.seconds, 2),
        "kb_per_page": round(fetched.page_bytes / fetched.pages / 1000, 1),
        "page_budget": budget,
        "workers": workers,
        "cores": list(cores),
        "hosts": len(fetched.hosts),
        "robots": fetched.robots,
        "repeats": fetched.repeats,
        "other": fetched.other,
        "redirects": fetched.redirects,
        "failed": fetched.failed,
        "foreign": fetched.foreign,
        "others_share": round(usage.others, 3),
        "timed_out": usage.timed_out,
    }
