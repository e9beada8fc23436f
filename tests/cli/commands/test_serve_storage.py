"""`periplus serve --storage` serves the index of an object store, and keeps serving while the store is down."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.commands.test_serve import serving
from crawl.crawling import environment, periplus, start, wait
from periplus.store.collection import Collection
from periplus.store.fleet_files.published_generations import PublishedGenerations
from periplus.store.generations import INDEX_KIND, Generations
from periplus.store.objects.open_store import open_store
from s3_server import S3Server
from search.library import Doc, index, shelve
from web.serving import Site

OSTIA, PORTUS = "http://harbours.example/ostia", "http://harbours.example/portus"
DOCS = [
    Doc(OSTIA, "Ostia", "The harbour of Rome.", body=b"<p>The harbour of <b>Rome</b>. <a href=/>Home</a>"),
    Doc(PORTUS, "Portus", "A hexagonal harbour."),
]

pytestmark = pytest.mark.slow


@pytest.fixture
def builder(tmp_path: Path, storage: str) -> Collection:
    """A collection whose index is published."""
    made = shelve(tmp_path / "builder", DOCS)
    publish(made, storage)
    return made


@pytest.fixture
def storage(bucket: str) -> str:
    return f"{bucket}/fleet"


def publish(made: Collection, storage: str) -> None:
    index(made)
    store = open_store(storage)
    published, folder = PublishedGenerations(store, "index", INDEX_KIND), Generations(made.index, INDEX_KIND).live()
    assert folder is not None
    published.publish(folder, published.current(), 3)
    for path in made.archive.glob("*.warc.gz"):
        store.put_file(f"archive/{path.name}", path)


@contextmanager
def searching(home: Path, storage: str, *options: str) -> Iterator[Site]:
    """A search node, once it answers."""
    with serving(home, "--storage", storage, *options) as (_, site, _line):
        yield site


def total(site: Site, query: str) -> int:
    found = site.get("/api/search", q=query, mode="and").json["total"]
    assert isinstance(found, int)
    return found


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.usefixtures("builder")
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_node_without_a_database_answers_searches(storage: str, tmp_path: Path, workers: str) -> None:
    with searching(tmp_path / "node", storage, "--workers", workers) as site:
        assert total(site, "harbour rome") == 1
        assert site.get("/search", q="harbour").page.select("li.hit h2 a")
        assert site.get("/cached/raw", url=OSTIA).text == "<p>The harbour of <b>Rome</b>. <a>Home</a>"
        assert site.get("/page", url=OSTIA).page.select("h1")[0].text == "Ostia"
        assert "periplus_" in site.get("/metrics").text
        assert site.get("/console").status == site.get("/api/inspect", url=OSTIA).status == 404


def test_a_new_generation_is_served_and_an_outage_is_not_noticed(
    builder: Collection, s3: S3Server, storage: str, tmp_path: Path
) -> None:
    with searching(tmp_path / "node", storage) as site:
        with s3.refusing():
            time.sleep(3)
            assert total(site, "harbour rome") == 1
            shelve(builder.home, [Doc("http://harbours.example/caesarea", "Caesarea", "A harbour of concrete.")])
        publish(builder, storage)
        until(lambda: total(site, "concrete") == 1)


@pytest.mark.usefixtures("builder")
def test_a_node_starts_from_its_cache_while_the_store_is_down(s3: S3Server, storage: str, tmp_path: Path) -> None:
    with searching(tmp_path / "node", storage):
        pass
    with s3.refusing():
        child = start("serve", "--home", tmp_path / "node", "--port", "0", "--storage", storage)
        assert child.stderr is not None
        lines = [child.stderr.readline(), child.stderr.readline()]
        child.send_signal(signal.SIGINT)
        wait(child)
    assert lines[0].startswith(f"Beginning with the index of the last start: {storage} cannot be used: connection ref")
    assert lines[1].startswith("Serving 2 pages at http://127.0.0.1:")


def test_with_neither_store_nor_cache_the_error_says_what_to_do(s3: S3Server, storage: str, tmp_path: Path) -> None:
    options = ("serve", "--home", tmp_path / "node", "--port", "0", "--storage")
    with s3.refusing():
        ended = periplus(*options, storage)
    assert (ended.code, ended.out) == (1, "")
    assert f"{storage} cannot be used: connection refused. Check the bucket, AWS_ENDPOINT_URL" in ended.err
    ended = periplus(*options, storage)
    assert ended.code == 1
    assert f"{storage} has no index yet" in ended.err
    ended = periplus(*options, "ftp://nowhere")
    assert ended.code == 2
    assert "must be a URL like s3://bucket/prefix" in ended.err


@pytest.mark.usefixtures("builder")
def test_a_node_that_was_killed_during_a_download_starts_cleanly(s3: S3Server, storage: str, tmp_path: Path) -> None:
    with s3.slow(30_000):
        child = start("serve", "--home", tmp_path / "node", "--port", "0", "--storage", storage)
        _kill_during_download(child, tmp_path / "node" / "index")
    assert list((tmp_path / "node" / "index").glob("gen-*.tmp"))
    assert not (tmp_path / "node" / "index" / "CURRENT").exists()
    with searching(tmp_path / "node", storage) as site:
        assert total(site, "harbour rome") == 1
    assert not list((tmp_path / "node" / "index").glob("gen-*.tmp"))


def _kill_during_download(child: subprocess.Popen[str], folder: Path) -> None:
    until(lambda: bool(list(folder.rglob("*.part"))))
    child.kill()
    child.communicate()


@pytest.mark.usefixtures("builder")
def test_ctrl_c_ends_the_first_download(s3: S3Server, storage: str, tmp_path: Path) -> None:
    with s3.slow(30_000):
        child = start("serve", "--home", tmp_path / "node", "--port", "0", "--storage", storage)
        until(lambda: bool(list((tmp_path / "node").rglob("*.part"))))
        child.send_signal(signal.SIGINT)
        assert wait(child).code == 130


def test_the_address_may_be_in_the_settings(builder: Collection, storage: str, tmp_path: Path) -> None:
    del builder
    settings = environment() | {"PERIPLUS_FLEET__STORAGE": storage}
    with serving(tmp_path / "node", **settings) as (_, site, _line):
        assert total(site, "harbour rome") == 1
