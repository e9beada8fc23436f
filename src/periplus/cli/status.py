"""periplus status: what a collection holds."""

from __future__ import annotations

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, moment, print_json, print_table, size
from periplus.inspector.overview import overview
from periplus.store.catalog import Catalog
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """What a collection holds and what its last crawl did."""
    collection = open_collection(home)
    catalog = Catalog(collection.catalog)
    try:
        found = overview(collection, catalog)
    finally:
        catalog.close()
    if as_json:
        print_json(found)
        return
    urls, segments, run = found["urls"], found["segments"], found["last_run"]
    states = ", ".join(f"{urls[state]:,} {state}" for state in ("done", "queued", "refused", "failed"))
    tables = f"{segments['pages']:,} pages and {segments['links']:,} links in {segments['files']} files"
    rows = [
        ("collection", found["home"]),
        ("seeds", " ".join(found["seeds"][:5]) + (" ..." if len(found["seeds"]) > 5 else "")),
        ("URLs", f"{urls['known']:,} known: {states}"),
        ("pages", f"{urls['fetched']:,} fetched, {size(urls['bytes'])}"),
        ("archive", f"{found['archive']['files']} files, {size(found['archive']['bytes'])}"),
        ("segments", f"{tables}, {size(segments['bytes'])}"),
        ("links refused", by_count(found["refused_links"])),
    ]
    if run is not None:
        rows.append(("last run", f"{run['run_id']}: {run['outcome']}, begun {moment(run['started'])}"))
    print_table(rows)
