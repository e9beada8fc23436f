"""Fills a collection with real pages: documentation packages, parsed and ranked, ready to be indexed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from harness import packages
from harness.web import Web, prepare
from periplus.archives.page_writer import PageWriter
from periplus.config import Settings
from periplus.graph.run import rank
from periplus.model import Reason, Response
from periplus.reparse import reparse
from periplus.store.collection import Collection, create_collection, open_collection

# Some 110,000 pages besides those of the other benches, from different generators.
MORE = (
    "rust-doc",
    "openjdk-17-doc",
    "libstdc++-12-doc",
    "libboost1.81-doc",
    "ghc-doc",
    "opencv-doc",
    "python-pandas-doc",
    "libpcl-doc",
    "scala-doc",
    "trilinos-doc",
    "groovy-doc",
    "erlang-doc",
    "libeigen3-doc",
    "qtdeclarative5-doc-html",
)
_COMPLETE = "complete"  # a file in the collection


def real_corpus(cache: Path, pages: int) -> Collection:
    """A collection of at most *pages* pages; it is made once."""
    home = cache / "runs" / f"index-{pages}"
    if (home / _COMPLETE).exists():
        return open_collection(home)
    web, folders = prepare(cache, "{name}.test"), packages.unpack(MORE, cache)
    files = [(site.host, site.root, path) for site in web.sites for path in sorted(site.root.rglob("*.html"))]
    for name, folder in folders.items():
        root = folder / "usr" / "share"
        files += [(f"{name.replace('+', 'p')}.test", root, path) for path in sorted(root.rglob("*.html"))]
    return filled(home, iter(files[:: max(len(files) // pages, 1)][:pages]))


def small_corpus(home: Path, web: Web) -> Collection:
    """A collection of the pages of a synthetic web."""
    return filled(
        home, ((site.host, site.root, path) for site in web.sites for path in sorted(site.root.rglob("*.html")))
    )


def filled(home: Path, files: Iterator[tuple[str, Path, Path]], settings: Settings | None = None) -> Collection:
    """A new collection of HTML files, each with its host and the root of its site; parsed and ranked."""
    shutil.rmtree(home, ignore_errors=True)
    print("parsing and ranking the pages, once", file=sys.stderr)
    collection, settings = create_collection(home), settings or Settings()
    with collection.locked() as held, closing(PageWriter(collection, settings, ["bench"], held)) as writer:
        for number, (host, root, path) in enumerate(files):
            if path.is_file():
                response = _response(host, root, path, number)
                if not writer.has(response.url, response.fetched_at):
                    writer.add_page(response, path, Reason.IMPORTED)
        writer.finish()
    reparse(collection, settings, everything=False)
    rank(collection, settings.graph)
    (home / _COMPLETE).touch()
    return collection


def _response(host: str, root: Path, path: Path, number: int) -> Response:
    return Response(
        f"http://{host}/{path.relative_to(root)}",
        float(number),
        status=200,
        head=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n",
        headers={"content-type": "text/html"},
        body=path.read_bytes(),
    )
