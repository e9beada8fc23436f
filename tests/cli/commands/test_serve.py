"""`periplus serve` serves the index, prints its URL, and stops on a signal."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest

from crawl.crawling import environment, start, typed, wait
from periplus.config import Serving
from periplus.live.collection_site import may_inspect
from periplus.site.listener import is_loopback, listen
from periplus.store.generations import INDEX_KIND, Generations
from search.library import Doc, index, shelve
from site_figures import figures
from web.serving import Site

OSTIA = "http://harbours.example/ostia"
DOCS = [
    Doc(OSTIA, "Ostia", "The harbour of Rome.", body=b"<p>The harbour of <b>Rome</b>. <a href=/>Home</a>"),
    Doc("http://harbours.example/portus", "Portus", "A hexagonal harbour."),
]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served")
    index(shelve(folder, DOCS))
    return folder


@contextmanager
def serving(home: Path, *options: str, **settings: str) -> Iterator[tuple[subprocess.Popen[str], Site, str]]:
    """The command, once it listens: the process, the site and the line it printed."""
    env = dict(environment()) | settings
    child = start("serve", "--home", home, "--port", "0", *options, env=env, start_new_session=True)
    try:
        assert child.stderr is not None
        line = child.stderr.readline()
        if line.startswith("Downloading "):
            line = child.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        assert found, line
        site = Site("127.0.0.1", int(found[1]))
        until_it_answers(site)
        yield child, site, line
    finally:
        if child.poll() is None:
            child.terminate()  # so that it removes its temporary files
            wait(child)


def until_it_answers(site: Site) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            site.get("/healthz")
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.fail("the site does not answer")


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_index_that_is_built_meanwhile_is_served_without_a_restart(tmp_path: Path, workers: str) -> None:
    index(shelve(tmp_path, DOCS))
    with serving(tmp_path, "--workers", workers) as (_, site, _line):
        index(shelve(tmp_path, [Doc("http://harbours.example/caesarea", "Caesarea", "A harbour of concrete.")]))
        deadline = time.monotonic() + 60
        answers = 0  # in a row, so that every worker has answered
        while answers < 20:
            assert time.monotonic() < deadline, "the new index is not served"
            found = site.get("/api/search", q="concrete", mode="and").json["total"]
            answers = answers + 1 if found == 1 else 0
            if not found:
                time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_what_was_indexed_is_found_and_ctrl_c_ends_it(home: Path, workers: str) -> None:
    with serving(home, "--workers", workers) as (child, site, line):
        assert line.startswith("Serving 2 pages at http://127.0.0.1:")
        assert site.get("/healthz").json == {"status": "ok", "generation": 1, "documents": 2}
        found = site.get("/api/search", q="harbour rome", mode="and").json
        assert [result["url"] for result in found["results"]] == [OSTIA]
        page = site.get("/search", q="harbour rome").page
        assert page.select("li.hit h2 a")[0].attrs["href"] == OSTIA
        assert site.get("/why", q="harbour rome", url=OSTIA).page.select("table")
        assert site.get("/cached/raw", url=OSTIA).text == "<p>The harbour of <b>Rome</b>. <a>Home</a>"
        assert [mark.text for mark in site.get("/cached", url=OSTIA, q="harbours").page.select("mark")] == ["harbour"]
        assert site.get("/page", url=OSTIA).page.select("h1")[0].text == "Ostia"
        assert site.get("/api/inspect", url=OSTIA).json["state"] == "done"
        os.killpg(child.pid, signal.SIGINT)
        ending = wait(child)
    assert (ending.code, ending.out, ending.err) == (0, "", "")


@pytest.mark.parametrize(
    ("address", "settings", "allowed"),
    [
        ("127.0.0.1", Serving(), True),
        ("::1", Serving(), True),
        ("0.0.0.0", Serving(), False),
        ("0.0.0.0", Serving(inspect=True), True),
        ("127.0.0.1", Serving(public_address="https://search.example"), False),
        ("127.0.0.1", Serving(trusted_proxies=["127.0.0.1"]), False),
        ("127.0.0.1", Serving(public_address="https://search.example", inspect=True), True),
    ],
)
def test_urls_are_inspected_on_this_machine_only_unless_allowed(address: str, settings: Serving, allowed: bool) -> None:
    with listen(address, 0) as listener:
        assert may_inspect(settings, is_public=not is_loopback(listener)) is allowed


@pytest.mark.slow
def test_two_indexes_are_switched_while_clients_search_and_no_search_fails(tmp_path: Path) -> None:
    collection = shelve(tmp_path, DOCS)
    index(collection)
    index(shelve(tmp_path, [Doc("http://harbours.example/caesarea", "Caesarea", "A harbour of concrete.")]))
    generations, stop = Generations(collection.index, INDEX_KIND), Event()

    def search(site: Site, client: int) -> tuple[set[int], set[int]]:
        """Until the end, as fast as possible; the statuses and the numbers of results that were seen."""
        statuses, totals, number = set[int](), set[int](), 0
        while not stop.is_set():
            number += 1
            answer = site.get("/api/search", q="harbour", size=number % 3 + 1, page=client)
            statuses.add(answer.status)
            totals.add(answer.json["total"])
        return statuses, totals

    with serving(tmp_path, "--workers", "2") as (_, site, _line), ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(search, site, client) for client in range(1, 5)]
        try:
            for switch in range(4):
                generations.roll_back(1 + switch % 2)
                wait_for_generation(site, 1 + switch % 2)
        finally:
            stop.set()
        for client in clients:
            assert client.result() == ({200}, {2, 3})


def wait_for_generation(site: Site, number: int) -> None:
    """Until every worker serves it."""
    deadline, answers = time.monotonic() + 60, 0
    while answers < 20:
        assert time.monotonic() < deadline, f"generation {number} is not served"
        is_served = site.get("/healthz").json["generation"] == number
        answers = answers + 1 if is_served else 0
        time.sleep(0.01)


@pytest.mark.slow
def test_the_figures_of_all_workers_are_added_up(home: Path) -> None:
    with serving(home, "--workers", "2") as (_, site, _line):
        for _ in range(40):
            assert site.get("/robots.txt").status == 200
        deadline = time.monotonic() + 20
        counted = processes = 0.0
        while (counted, processes) != (40, 2):
            assert time.monotonic() < deadline, f"{counted} requests of {processes} processes were counted"
            found = figures(site.get("/metrics").text)
            counted = found.get('periplus_http_requests_total{route="/robots.txt",status="200"}', 0)
            processes = found["periplus_processes"]
            time.sleep(0.05)


@pytest.mark.slow
def test_an_access_log_is_complete_when_the_site_has_stopped(home: Path, tmp_path: Path) -> None:
    with serving(home, "--workers", "2", PERIPLUS_SERVE__ACCESS_LOG=str(tmp_path / "log")) as (child, site, _line):
        for _ in range(20):
            site.get("/robots.txt")
        os.killpg(child.pid, signal.SIGTERM)
        wait(child)
    assert (tmp_path / "log").read_text().count("GET /robots.txt") == 20


@pytest.mark.slow
def test_a_supervisor_ends_it_too(home: Path) -> None:
    with serving(home) as (child, _, _):
        child.terminate()
        assert wait(child).code == 0


def test_a_port_that_is_taken_is_one_line(home: Path) -> None:
    with listen("127.0.0.1", 0) as other:
        port = other.getsockname()[1]
        outcome = typed("serve", "--home", home, "--port", str(port))
    assert outcome.code == 1
    assert outcome.complaint == (
        f"periplus: port {port} is taken: another program listens on 127.0.0.1. "
        "Stop it, or choose another port with --port."
    )


def test_an_address_of_another_machine_is_one_line(home: Path) -> None:
    outcome = typed("serve", "--home", home, "--host", "203.0.113.77")
    assert outcome.code == 2
    assert "203.0.113.77" in outcome.complaint


@pytest.mark.parametrize("workers", ["1", "2"])
def test_an_access_log_that_cannot_be_written_is_one_line(home: Path, tmp_path: Path, workers: str) -> None:
    env = dict(environment()) | {"PERIPLUS_SERVE__ACCESS_LOG": str(tmp_path / "none" / "log")}
    outcome = typed("serve", "--home", home, "--port", "0", "--workers", workers, env=env)
    assert outcome.code == 2
    assert "cannot write the access log" in outcome.complaint


def test_without_a_collection_there_is_nothing_to_serve(tmp_path: Path) -> None:
    outcome = typed("serve", "--home", tmp_path / "none")
    assert outcome.code == 1
    assert "holds no collection" in outcome.complaint


def test_without_an_index_the_error_says_how_to_build_one(tmp_path: Path) -> None:
    shelve(tmp_path, DOCS)
    outcome = typed("serve", "--home", tmp_path)
    assert outcome.code == 1
    assert "`periplus index` builds one" in outcome.complaint


@pytest.mark.parametrize("options", [("--port", "70000"), ("--port", "http"), ("--workers", "0")])
def test_a_mistake_in_an_option_is_a_usage_error(home: Path, options: tuple[str, str]) -> None:
    assert typed("serve", "--home", home, *options).code == 2


def test_bangs_that_cannot_be_used_are_one_line_before_the_site_starts(tmp_path: Path) -> None:
    index(shelve(tmp_path, DOCS))
    (tmp_path / "periplus.toml").write_text('[serve]\nbangs = "b.txt"\n', encoding="utf-8")
    (tmp_path / "b.txt").write_text("w https://{query}.example/\n", encoding="utf-8")
    outcome = typed("serve", "--home", tmp_path, "--port", "0")
    assert outcome.code == 2
    assert "serve.bangs: b.txt cannot be used: line 1: https://{query}.example/ is no http" in outcome.complaint


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('logo = "none.svg"', "site.logo: none.svg cannot be used: the file does not exist."),
        ('accent = "#ffcc00"', "has a contrast of 1.4:1 with the light background; at least 4.5:1 is needed"),
        ('name = ""', "site.name = '' in periplus.toml is not valid: must not be empty"),
    ],
)
def test_a_look_that_cannot_be_served_is_one_line_before_the_site_starts(
    tmp_path: Path, line: str, complaint: str
) -> None:
    index(shelve(tmp_path, DOCS))
    (tmp_path / "periplus.toml").write_text(f"[site]\n{line}\n", encoding="utf-8")
    outcome = typed("serve", "--home", tmp_path, "--port", "0")
    assert outcome.code == 2
    assert complaint in outcome.complaint
