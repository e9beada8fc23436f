"""A collection with something to forget in every kind of file, and a search for what is left of it."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
from pyarrow import ipc, parquet

from crawl.crawling import reach, run_crawl, typed
from periplus.store.catalog.live_state import Action, LiveState, Role, WorkerRow
from periplus.store.catalog.open_catalog import open_catalog
from periplus.store.collection import open_collection
from testweb import Page, Site, TestWeb, mesh

SECRET = "http://a.test/secret-zanzibar"
HOST = "private-yokohama.test"
PHRASE = "quetzalcoatlus pamphlet"
HOST_PHRASE = "xylophonist manifesto"
SEEDS = ("http://a.test/", "http://b.test/", f"http://{HOST}/")


def sites() -> list[Site]:
    """Pages that link to the secret page, redirect to it, copy it; and a private host. All links are relative."""
    pages = {
        "/": Page("Home", links=["/secret-zanzibar", "/other", "/alias", "/sitemap.xml"]),
        "/secret-zanzibar": Page(f"The {PHRASE}", f"A unique {PHRASE} is only here.", links=["/child", "/other"]),
        "/twin": Page("Twin", "What the other one says."),
        "/child": Page("Child", "Only the other page links here.", links=["/secret-zanzibar"]),
        "/other": Page("Other", "Something else.", links=["/twin"]),
        "/alias": Page(redirect="/secret-zanzibar"),
        "/sitemap.xml": Page(
            body="<urlset><url><loc>http://a.test/other</loc></url></urlset>", content_type="application/xml"
        ),
    }
    private = {
        "/": Page("Private home", f"The {HOST_PHRASE} begins.", links=["/one", "/two"]),
        "/one": Page("One", f"One {HOST_PHRASE}.", links=["/"]),
        "/two": Page("Two", f"Two {HOST_PHRASE}."),
    }
    return [Site("a.test", pages), mesh("b.test", 12), Site(HOST, private)]


def build(web: TestWeb, home: Path, crawl: Callable[..., object] = run_crawl) -> None:
    """Crawl twice, rank and index twice, with several archive files, generations, versions and a query log."""
    for seed in SEEDS:
        crawl(web, home, seed, store__archive_bytes=6_000, store__commit_pages=4)
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    crawl(web, home, SECRET, store__archive_bytes=6_000)
    assert typed("rank", "--home", home).code == 0
    assert typed("index", "--full", "--home", home).code == 0
    (home / "judgements").mkdir()
    (home / "judgements" / "queries.tsv").write_text("q1\tpage\n")
    (home / "judgements" / "qrels.txt").write_text(f"q1 0 {SECRET} 1\nq1 0 http://a.test/other 0\n")
    (home / "up.log").write_text(f"worker 0 exited while parsing {SECRET}\nblocked {HOST}\n")
    _add_rows(home)


def _add_rows(home: Path) -> None:
    """Name what will be forgotten in commands, in the row of a killed process and in a feed."""
    visits = {"visits": [{"url": url, "step": "fetch", "seconds": 1.0} for url in (SECRET, f"http://{HOST}/one")]}
    with closing(open_catalog(open_collection(home), LiveState)) as live:
        live.command(Action.ADD_SEEDS, {"urls": [SECRET, f"http://{HOST}/"]})
        live.publish(WorkerRow("elsewhere", Role.CRAWL, 0, 1, 0.0, 0.0, "running", 0, visits))
    assert typed("watch", "add", "unique", "--home", home).code == 0
    with closing(sqlite3.connect(home / "standing" / "queries.db")) as database, database:
        for url, title in ((SECRET, PHRASE), (f"http://{HOST}/one", HOST_PHRASE)):
            row = (1, "new", url, title, title, 0.0, 0.0)
            database.execute("INSERT INTO items VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)", row)


def crawl_again(web: TestWeb, home: Path, *seeds: str) -> None:
    assert typed("crawl", *(seeds or SEEDS[:2]), "--home", home, *reach(web)).code in (0, 1)


def everything(home: Path) -> Iterator[tuple[str, bytes]]:
    """The bytes of every file of a collection, as they are and decoded."""
    files = {path: path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file()}
    for path, data in files.items():
        name = str(path.relative_to(home))
        yield name, data
        if path.suffix == ".gz":
            yield f"{name} (decompressed)", _members(data)
        elif path.suffix == ".parquet":
            yield f"{name} (rows)", repr(parquet.read_table(path).to_pydict()).encode()
        elif path.suffix == ".arrow":
            with pa.memory_map(str(path)) as file:
                yield f"{name} (rows)", repr(ipc.open_file(file).read_all().to_pydict()).encode()
        elif path.suffix == ".dat":
            yield f"{name} (records)", _records(data)
        elif path.suffix == ".db":
            with closing(sqlite3.connect(path)) as database:
                yield f"{name} (rows)", "\n".join(database.iterdump()).encode()


def _members(data: bytes) -> bytes:
    found = []
    while data:
        inflate = zlib.decompressobj(31)
        found.append(inflate.decompress(data) + inflate.flush())
        data = inflate.unused_data
    return b"".join(found)


def _records(data: bytes) -> bytes:
    """All zlib streams in the data."""
    found, at = [], 0
    while 0 <= at < len(data):
        inflate = zlib.decompressobj()
        try:
            found.append(inflate.decompress(data[at:]) + inflate.flush())
            at = len(data) - len(inflate.unused_data)
        except zlib.error:
            at += 1
    return b"".join(found)


def places_of(home: Path, *texts: str) -> list[str]:
    """The files of a collection that contain one of the texts, in any case."""
    wanted = [text.lower().encode() for text in texts]
    return [name for name, data in everything(home) if any(text in data.lower() for text in wanted)]
