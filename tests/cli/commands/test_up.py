"""`periplus up` reports what keeps it from starting in one line, before anything starts."""

from __future__ import annotations

import re
import socket
import sys
from pathlib import Path

import pytest

from crawl.crawling import environment, typed
from periplus.cli.commands.up import status_line
from periplus.live.status import Status
from periplus.store.collection import create_collection

SEED = "http://a.test/"


def complaint(home: Path, *arguments: str) -> str:
    outcome = typed("up", *arguments, "--home", home, "--port", "0")
    assert outcome.code in {1, 2}, outcome
    lines = [line for line in outcome.err.splitlines() if not line.startswith("Serving at ")]
    assert len(lines) == 1, outcome.err
    return lines[0]


def test_without_a_contact_no_public_host_can_be_crawled(tmp_path: Path) -> None:
    assert "no contact is set" in complaint(tmp_path / "home", SEED)
    assert not (tmp_path / "home").exists()


def test_a_bad_seed_is_refused(tmp_path: Path) -> None:
    assert "ftp" in complaint(tmp_path / "home", "ftp://a.test/", "--allow-private")
    assert not (tmp_path / "home").exists()


def test_without_a_seed_there_is_nothing_to_do(tmp_path: Path) -> None:
    assert "nothing to crawl" in complaint(tmp_path / "home", "--allow-private")
    assert not (tmp_path / "home").exists()


def test_a_collection_in_use_is_refused(tmp_path: Path) -> None:
    with create_collection(tmp_path / "home").locked():
        assert "is in use" in complaint(tmp_path / "home", SEED, "--allow-private")


def test_a_taken_port_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        outcome = typed("up", SEED, "--allow-private", "--home", tmp_path / "home", "--port", str(port))
    assert outcome.code == 1
    assert f"port {port} is taken" in outcome.complaint
    assert not (tmp_path / "home").exists()


def test_the_supervisor_loads_no_heavy_library(tmp_path: Path) -> None:
    import subprocess

    code = "import sys; import periplus.cli.commands.up; print(*sys.modules)"
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment(), cwd=tmp_path
    )
    heavy = {"numpy", "pyarrow", "duckdb", "tantivy", "uvicorn", "starlette", "pycurl", "turbohtml", "numba"}
    assert not heavy & set(found.stdout.split())


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({}, "1,200 pages (9.5 pages/s, 30 queued) · 1,100 searchable · 100 waiting for 12 s · http://here/"),
        ({"waiting": 0}, "1,200 pages (9.5 pages/s, 30 queued) · 1,100 searchable · http://here/"),
        (
            {"is_crawl_finished": True, "waiting": 0},
            "1,200 pages (crawl stopped, 30 queued) · 1,100 searchable · http://here/",
        ),
        (
            {"restarting": ("crawl",), "waiting": 0},
            "1,200 pages (9.5 pages/s, 30 queued) · 1,100 searchable · restarting: crawl · http://here/",
        ),
    ],
)
def test_the_status_line(changes: dict[str, object], line: str) -> None:
    figures: dict[str, object] = {
        "pages": 1200,
        "pages_per_second": 9.5,
        "queued": 30,
        "searchable": 1100,
        "waiting": 100,
    }
    figures |= {
        "waiting": 100,
        "freshness": 12.3,
        "freshness_p95": 20.0,
        "step": "idle",
        "rate_limit": None,
        "address": "http://here/",
    }
    assert status_line(Status(**figures | changes)) == line  # type: ignore[arg-type]
    assert re.fullmatch(r"[^\n]+", line)
