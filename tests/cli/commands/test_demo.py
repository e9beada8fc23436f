"""`periplus demo` builds and serves a search site with one command."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

from crawl.crawling import periplus, start, wait
from demo.shared_demo import Demo
from periplus.demo.run import QUERIES

pytestmark = pytest.mark.slow


@pytest.fixture
def home(demo: Demo) -> Path:
    return demo.home


def address(child: subprocess.Popen[str]) -> int:
    """The port of the site that a demo serves, once it says so."""
    assert child.stderr is not None
    for line in child.stderr:
        if found := re.search(r"http://127\.0\.0\.1:(\d+)/", line):
            return int(found[1])
    raise AssertionError("the demo ended without serving")


def get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def test_exit_prints_the_best_results_of_the_queries_and_ends(demo: Demo) -> None:
    for query in QUERIES:
        assert f"{query}  (" in demo.out
    assert "http.server: HTTP server classes" in demo.out
    assert "crawling" in demo.err
    assert "indexing" in demo.err


def test_programs_get_the_same_as_json(home: Path) -> None:
    outcome = periplus("demo", "--home", home, "--exit", "--json", timeout=120)
    assert outcome.code == 0, outcome.err
    assert [answer["query"] for answer in outcome.json["queries"]] == list(QUERIES)
    for answer in outcome.json["queries"]:
        assert 1 <= len(answer["results"]) <= 5
        assert answer["total"] >= len(answer["results"])


def test_it_serves_a_site_until_it_is_stopped(home: Path) -> None:
    child = start("demo", "--home", home, "--port", "0")
    try:
        port = address(child)
        assert get(port, "/")[0] == 200
        status, text = get(port, "/search?q=http+server")
        assert status == 200
        assert "http.server" in text
        answer = json.loads(get(port, "/api/search?q=http+server")[1])
        assert answer["results"][0]["url"].endswith("/library/http.server.html")
    finally:
        child.send_signal(signal.SIGINT)
        outcome = wait(child)
    assert outcome.code == 0
    assert outcome.out == ""


def test_a_port_that_is_taken_is_no_obstacle(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        child = start("demo", "--home", home, "--port", str(taken))
        try:
            assert address(child) > taken
        finally:
            child.send_signal(signal.SIGINT)
            wait(child)


def test_other_commands_work_on_what_it_made(home: Path) -> None:
    assert periplus("demo", "--home", home, "--exit", timeout=120).code == 0
    assert periplus("verify", "--home", home / "collection").code == 0
    found = periplus("search", "--home", home / "collection", "--json", "http server").json
    assert found["results"][0]["url"].endswith("/library/http.server.html")


def test_a_second_demo_in_the_same_folder_is_refused(home: Path) -> None:
    child = start("demo", "--home", home, "--port", "0")
    try:
        address(child)
        assert "already running" in periplus("demo", "--home", home, "--exit").complaint
    finally:
        child.send_signal(signal.SIGTERM)
        wait(child)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    outcome = periplus("demo", "--home", tmp_path, "--exit")
    assert outcome.code == 1
    assert "is not a demo folder" in outcome.complaint


def test_json_without_an_end_makes_no_sense(tmp_path: Path) -> None:
    outcome = periplus("demo", "--home", tmp_path, "--json")
    assert outcome.code == 2
    assert "--exit" in outcome.complaint


def test_ctrl_c_ends_it_at_once_at_any_step(tmp_path: Path) -> None:
    child = start("demo", "--home", tmp_path / "home", "--exit")
    assert child.stderr is not None
    assert "rendering the Python documentation" in child.stderr.readline()
    child.send_signal(signal.SIGINT)
    started = time.monotonic()
    assert wait(child).code == 130
    assert time.monotonic() - started < 10
    assert not (tmp_path / "home" / "documentation").exists(), "half of it is not taken for the whole"
