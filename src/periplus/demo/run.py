"""What does a visitor see: documentation of this machine crawled, ranked, indexed and ready to be searched?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from periplus.config import FILE_NAME, load
from periplus.crawl.run import Progress, Request
from periplus.demo.home import (
    DemoNote,
    begin_anew,
    collection,
    documentation,
    edition_of,
    held,
    read_note,
    write_note,
)
from periplus.demo.library import Site, installed_sites, python_site
from periplus.demo.renderer import write_python_pages
from periplus.demo.server import DocumentationServer, listen
from periplus.errors import PortTaken
from periplus.model import Results
from periplus.pipeline import Watch, build, open_engine
from periplus.search.engine import SearchEngine
from periplus.store.durable import write_file

QUERIES = ("parse command line options", "http server", '"context manager" with statement')
_PER_HOST = 15  # results: nearly everything is on one host, so there is no variety to protect


@dataclass(frozen=True, slots=True)
class Step:
    """How far the tour is."""

    name: str
    done: int = 0
    total: int = 0  # 0: not known yet
    words: str = ""


Show = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The demo, ready: its pages can be searched, and opened under their own addresses."""

    engine: SearchEngine
    home: Path  # of the collection
    sites: int

    def answers(self, size: int) -> list[Results]:
        """The best results of the queries to try."""
        return [self.engine.search(query, size=size) for query in QUERIES]


@contextmanager
def run_demo(home: Path, show: Show = lambda _: None) -> Iterator[DemoResult]:
    """Make what is missing of the demo in *home*, and serve its documentation until the block is left."""
    installed = installed_sites()
    with held(home):
        note, server = _settle(home, edition_of(installed))
        with server:
            if not documentation(home).exists():
                write_python_pages(documentation(home), lambda done, total: show(Step("render", done, total)))
            sites = [python_site(documentation(home)), *installed]
            with server.serving(sites):
                request = _request(home, server)
                if not note.ready:
                    documents = build(request, _watch(show, sites)).index.documents
                    show(Step("index", documents, documents))
                    write_note(home, replace(note, ready=True))
                engine = open_engine(request)
                try:
                    yield DemoResult(engine, request.home, len(sites))
                finally:
                    engine.close()


def _settle(home: Path, edition: str) -> tuple[DemoNote, DocumentationServer]:
    """The earlier demo if it still fits and its port is free, otherwise the beginning of a new one."""
    kept = read_note(home)
    if kept is not None and kept.edition == edition and (collection(home).exists() or not kept.ready):
        try:
            return kept, listen(kept.port)
        except PortTaken:
            pass  # the addresses of its pages would lead to another program
    server = listen()
    note = DemoNote(edition, server.port, ready=False)
    with ExitStack() as undo:
        undo.callback(server.server_close)
        begin_anew(home, note)
        undo.pop_all()
    return note, server


def _request(home: Path, server: DocumentationServer) -> Request:
    """A crawl as the collection's own settings say, whatever the environment holds."""
    folder = collection(home)
    if not (folder / FILE_NAME).exists():
        folder.mkdir(exist_ok=True)
        write_file(folder / FILE_NAME, _settings(server).encode())
    return Request(folder, load(folder, environment={}).settings, [server.entrance])


def _settings(server: DocumentationServer) -> str:
    """What makes the demo's collection different from others; as a file, so that other commands know it too."""
    tables: dict[str, dict[str, Any]] = {
        "scope": {"hosts": [re.escape(host) for host in server.hosts]},
        "politeness": {"delay": 0.0},
        "fetch": {"private_addresses": ["127.0.0.1/32"], "connect_to": server.connect_to},
        "ranking": {"per_host": _PER_HOST},
    }
    lines = ["# Written by `periplus demo`; `periplus config show` tells what else can be set."]
    for table, values in tables.items():
        lines += ["", f"[{table}]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _watch(show: Show, sites: list[Site]) -> Watch:
    pages = sum(site.pages for site in sites)

    def crawled(progress: Progress) -> None:
        figures = progress.summary
        show(Step("crawl", figures["fetched"], pages, f"{figures['pages_per_second']:.0f} pages/s"))

    return Watch(
        crawl=crawled,
        rank=lambda words: show(Step("rank", words=words)),
        index=lambda done, total: show(Step("index", done, total)),
    )
