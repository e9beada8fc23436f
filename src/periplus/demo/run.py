"""Runs the demo: renders and serves the documentation on this machine, then crawls, ranks and indexes it."""

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
    DemoState,
    collection,
    documentation,
    edition_of,
    locked,
    read_state,
    reset,
    write_state,
)
from periplus.demo.library import Site, installed_sites, python_site
from periplus.demo.renderer import write_python_pages
from periplus.demo.server import DocumentationServer, listen
from periplus.errors import PortTaken
from periplus.model import Results
from periplus.pipeline import ProgressCallbacks, build, open_engine
from periplus.search.engine import SearchEngine
from periplus.store.durable import write_file

QUERIES = ("parse command line options", "http server", '"context manager" with statement')
_PER_HOST = 15  # results per page: nearly all pages are on one host, so the host limit is switched off


@dataclass(frozen=True, slots=True)
class Step:
    """The progress of one step."""

    name: str
    done: int = 0
    total: int = 0  # 0: unknown
    words: str = ""


Show = Callable[[Step], None]


@dataclass(frozen=True, slots=True)
class DemoResult:
    """The running demo: its pages can be searched, and opened in a browser."""

    engine: SearchEngine
    home: Path  # of the collection
    sites: int

    def answers(self, size: int) -> list[Results]:
        """The best results of the example queries."""
        return [self.engine.search(query, size=size) for query in QUERIES]


@contextmanager
def run_demo(home: Path, show: Show = lambda _: None) -> Iterator[DemoResult]:
    """Builds the missing parts of the demo in *home*, and serves the documentation until the block ends."""
    installed = installed_sites()
    with locked(home):
        state, server = _reuse_or_reset(home, edition_of(installed))
        with server:
            if not documentation(home).exists():
                write_python_pages(documentation(home), lambda done, total: show(Step("render", done, total)))
            sites = [python_site(documentation(home)), *installed]
            with server.serving(sites):
                request = _request(home, server)
                if not state.ready:
                    documents = build(request, _callbacks(show, sites)).index.documents
                    show(Step("index", documents, documents))
                    write_state(home, replace(state, ready=True))
                engine = open_engine(request)
                try:
                    yield DemoResult(engine, request.home, len(sites))
                finally:
                    engine.close()


def _reuse_or_reset(home: Path, edition: str) -> tuple[DemoState, DocumentationServer]:
    """Reuses the earlier demo if it is current and its port is free; otherwise starts a new one."""
    kept = read_state(home)
    if kept is not None and kept.edition == edition and (collection(home).exists() or not kept.ready):
        try:
            return kept, listen(kept.port)
        except PortTaken:
            pass  # the URLs of its pages would lead to another program
    server = listen()
    state = DemoState(edition, server.port, ready=False)
    with ExitStack() as undo:
        undo.callback(server.server_close)
        reset(home, state)
        undo.pop_all()
    return state, server


def _request(home: Path, server: DocumentationServer) -> Request:
    """A crawl with the settings of the demo's periplus.toml; environment variables are ignored."""
    folder = collection(home)
    if not (folder / FILE_NAME).exists():
        folder.mkdir(exist_ok=True)
        write_file(folder / FILE_NAME, _settings(server).encode())
    return Request(folder, load(folder, environment={}).settings, [server.index_url])


def _settings(server: DocumentationServer) -> str:
    """The periplus.toml of the demo, so that other commands use the same settings."""
    tables: dict[str, dict[str, Any]] = {
        "scope": {"hosts": [re.escape(host) for host in server.hosts]},
        "politeness": {"delay": 0.0},
        "fetch": {"private_addresses": ["127.0.0.1/32"], "connect_to": server.connect_to},
        "ranking": {"per_host": _PER_HOST},
    }
    lines = ["# Written by `periplus demo`; `periplus config show` lists all settings."]
    for table, values in tables.items():
        lines += ["", f"[{table}]", *(f"{name} = {json.dumps(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _callbacks(show: Show, sites: list[Site]) -> ProgressCallbacks:
    pages = sum(site.pages for site in sites)

    def crawled(progress: Progress) -> None:
        figures = progress.summary
        show(Step("crawl", figures["fetched"], pages, f"{figures['pages_per_second']:.0f} pages/s"))

    return ProgressCallbacks(
        crawl=crawled,
        rank=lambda words: show(Step("rank", words=words)),
        index=lambda done, total: show(Step("index", done, total)),
    )
