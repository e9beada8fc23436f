"""Do hosts whose names cannot be resolved delay other hosts?"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from crawl.crawling import environment, reach_by_name, run_crawl, typed
from periplus.fetch import resolver
from testweb import Page, Site, TestWeb

SILENT = [f"http://a.silent{number}.test/" for number in range(40)]
HEALTHY = [f"http://h{number}.test/" for number in range(20)]


@pytest.fixture(autouse=True)
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A name server that never answers for some names, and answers for all others at once."""
    end = threading.Event()

    def resolve(host: str) -> list[str]:
        if "silent" in host:
            end.wait(60)
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return ["127.0.0.1"]

    monkeypatch.setattr(resolver, "_query_system", resolve)
    monkeypatch.setattr(resolver, "_SLOW_AFTER", 0.1, raising=False)
    yield
    end.set()


def healthy_web() -> TestWeb:
    return TestWeb([Site(f"h{number}.test", {"/": Page()}) for number in range(20)])


def test_name_servers_that_never_answer_delay_no_other_host(tmp_path: Path) -> None:
    with healthy_web() as web:
        quick: dict[str, Any] = {"fetch__connect_to": reach_by_name(web), "fetch__connect_timeout": 0.4}
        result = run_crawl(web, tmp_path, *SILENT, *HEALTHY, **quick)
        assert {entry.host for entry in web.log.entries() if entry.path == "/"} == {f"h{n}.test" for n in range(20)}
    assert result.summary["fetched"] == 20
    assert result.summary["parked"] == {"dns": 40}
    assert result.summary["queued"] == 40


def test_the_summary_counts_parked_hosts_by_reason(tmp_path: Path) -> None:
    with healthy_web() as web:
        quick = environment(fetch__connect_timeout=0.4)
        rules = [word for rule in reach_by_name(web) for word in ("--connect-to", rule)]
        outcome = typed("crawl", *SILENT[:3], HEALTHY[0], "--home", tmp_path, "--allow-private", *rules, env=quick)
    assert outcome.code == 0, outcome.err
    (line,) = [line for line in outcome.out.splitlines() if line.startswith("parked")]
    assert "3 dns" in line
