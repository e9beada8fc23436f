"""The demo is built from an empty folder, and starts quickly the second time."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from crawl.crawling import sound
from demo.shared_demo import Demo, own_ports
from periplus.demo.home import collection, read_state, write_state
from periplus.demo.library import installed_sites
from periplus.demo.run import QUERIES, Step, run_demo
from periplus.demo.server import LOOPBACK, listen
from periplus.errors import CollectionError
from periplus.model import Hit

pytestmark = pytest.mark.slow


@pytest.fixture
def home(demo: Demo) -> Path:
    return demo.home


def first_hits(home: Path) -> list[Hit]:
    with run_demo(home) as ready:
        return [results.hits[0] for results in ready.answers(5)]


def test_an_empty_folder_becomes_a_search_engine_in_less_than_two_minutes(demo: Demo) -> None:
    assert demo.seconds < 120
    steps = list(dict.fromkeys(line.split()[0] for line in demo.err.splitlines()))
    assert steps == ["rendering", "crawling", "computing", "indexing"]
    with run_demo(demo.home) as ready:
        assert ready.engine.documents > 250
    sound(collection(demo.home))


def test_the_queries_to_try_find_what_a_person_would_expect(home: Path) -> None:
    best = dict(zip(QUERIES, (urlsplit(hit.url).path for hit in first_hits(home)), strict=True))
    assert best["parse command line options"] in {"/library/getopt.html", "/library/argparse.html"}
    assert best["http server"] == "/library/http.server.html"
    assert best['"context manager" with statement'] in {"/language/context-managers.html", "/library/contextlib.html"}


def test_results_can_be_opened_while_the_demo_runs(home: Path) -> None:
    with run_demo(home) as ready:
        url = urlsplit(ready.answers(1)[1].hits[0].url)
        assert url.hostname is not None
        assert url.hostname.endswith(".localhost"), "browsers look for it on this machine"
        connection = HTTPConnection(LOOPBACK, url.port or 80, timeout=5)
        connection.request("GET", url.path, headers={"Host": url.netloc})
        assert connection.getresponse().status == 200
        connection.close()


def test_the_second_start_makes_nothing_anew(home: Path) -> None:
    steps: list[Step] = []
    with run_demo(home, steps.append):
        pass
    assert steps == []


def test_an_interrupted_demo_goes_on_where_it_stopped(home: Path) -> None:
    state = read_state(home)
    assert state is not None
    write_state(home, replace(state, ready=False))
    steps: list[Step] = []
    with run_demo(home, steps.append):
        pass
    assert "render" not in {step.name for step in steps}
    assert read_state(home) == state
    sound(collection(home))


def test_only_the_documentation_server_may_be_reached(home: Path) -> None:
    settings = tomllib.loads((collection(home) / "periplus.toml").read_text(encoding="utf-8"))
    hosts = {"docs.localhost", "python.docs.localhost", *(site.host for site in installed_sites())}
    assert {host.replace("\\", "") for host in settings["scope"]["hosts"]} == hosts
    assert {rule.split(":")[2] for rule in settings["fetch"]["connect_to"]} == {"127.0.0.1"}


def test_a_folder_with_other_things_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(CollectionError, match="is not a demo folder"), run_demo(tmp_path):
        pass
    assert (tmp_path / "thesis.tex").exists()


@pytest.mark.long
def test_when_its_port_is_taken_the_addresses_are_made_anew(home: Path) -> None:
    state = read_state(home)
    assert state is not None
    with listen(state.port), own_ports():
        ports = {urlsplit(hit.url).port for hit in first_hits(home)}
    assert ports
    assert state.port not in ports
