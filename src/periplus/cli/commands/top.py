"""periplus top: lists the pages or hosts with the highest PageRank."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.fleet_index import collection_with
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.errors import CollectionError
from periplus.graph.explain import top_hosts, top_pages
from periplus.store.ranks import RankTable, open_ranks

app = typer.Typer(add_completion=False, no_args_is_help=True)

Size = Annotated[int, typer.Option(min=1, max=10_000, metavar="N", help="Number of rows to show.")]


@app.callback()
def group() -> None:
    """Pages or hosts with the highest PageRank."""


@app.command()
def pages(home: Home = DEFAULT_HOME, size: Size = 20, as_json: Json = False) -> None:
    """List the pages with the highest PageRank, including pages known only from links."""
    found = top_pages(_ranks(home), size)
    if as_json:
        print_json({"pages": [asdict(page) for page in found]})
        return
    rows = (
        (f"{page.rank:.3e}", f"{page.in_links:,}", page.url if page.crawled else f"{page.url} (not crawled)")
        for page in found
    )
    print_table(rows, ("rank", "in-links", "page"))


@app.command()
def hosts(home: Home = DEFAULT_HOME, size: Size = 20, as_json: Json = False) -> None:
    """List the hosts with the highest PageRank."""
    found = top_hosts(_ranks(home), size)
    if as_json:
        print_json({"hosts": [asdict(host) for host in found]})
        return
    rows = ((f"{host.rank:.3e}", f"{host.pages:,}", f"{host.known:,}", host.host) for host in found)
    print_table(rows, ("rank", "crawled", "known", "host"))


def _ranks(home: Path) -> RankTable:
    table = open_ranks(collection_with(home, "ranks").ranks)
    if table is None:
        raise CollectionError(f"{home} has no ranks yet", hint="Run `periplus rank` first.")
    return table
