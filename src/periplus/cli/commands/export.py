"""periplus export: writes archived pages to a WARC file."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from periplus.archives.exporter import Selection, export_archive
from periplus.cli.fleet_index import collection_with
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table, size
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.errors import UsageError
from periplus.store.archive.warc_files import SUFFIX

app = typer.Typer(add_completion=False)


@app.command()
def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=f"File to write, usually named *{SUFFIX}.")],
    home: Home = DEFAULT_HOME,
    host: Annotated[
        list[str] | None, typer.Option(metavar="HOST", help="Only this host and its subdomains; repeatable.")
    ] = None,
    after: Annotated[str, typer.Option(metavar="DATE", help="Only pages fetched on or after this date.")] = "",
    before: Annotated[str, typer.Option(metavar="DATE", help="Only pages fetched before this date.")] = "",
    query: Annotated[str, typer.Option(metavar="QUERY", help="Only the best 1,000 results of this query.")] = "",
    latest: Annotated[bool, typer.Option("--latest", help="Only the newest version of each page.")] = False,
    as_json: Json = False,
) -> None:
    """Write archived pages to one standard WARC file. DATE is YYYY-MM-DD, for example 2024-05-17."""
    selection = Selection(host or (), _timestamp("--after", after), _timestamp("--before", before), query, latest)
    collection = collection_with(home, *(["index"] if query else []))
    with counter_progress("exporting", "pages") as progress:
        found = export_archive(collection, load(home).settings, selection, file, progress)
    if as_json:
        print_json(asdict(found))
    else:
        print_table([("file", found.file), ("pages", f"{found.pages:,}"), ("size", size(found.bytes))])


def _timestamp(option: str, text: str) -> float | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{option} {text!r} is not a date", str(error), "Use YYYY-MM-DD, for example 2024-05-17."
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
