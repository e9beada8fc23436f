"""periplus import: take the pages of archives that others made."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from periplus.archives.importer import Imported, import_archives
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, print_json, print_table, printable, size
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.errors import PartialFailure

app = typer.Typer(add_completion=False)


@app.command()
def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="WARC or ARC files, compressed or not.")],
    home: Home = DEFAULT_HOME,
    ignore_scope: Annotated[
        bool, typer.Option("--ignore-scope", help="Take pages that the settings of the scope refuse, too.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take the pages of archives that others made: Common Crawl, Heritrix, wget, browsers.

    They become part of the collection like pages that were crawled; `rank`, `index` and `serve` work as usual. Records
    that cannot be read are named and passed over. A page whose date is not in the calendar gets that of its file. The
    same command again takes only what is not there yet.

    Pages that `scope.hosts`, `scope.paths` or another rule of the scope refuses are passed over and counted. With
    --ignore-scope they are taken and stay in the index.
    """
    with counter_progress("importing", "bytes") as progress:
        found = import_archives(home, load(home).settings, files, progress, ignore_scope=ignore_scope)
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)
    if found.broken:
        raise PartialFailure(f"{found.broken:,} records or files cannot be read", "everything else is imported")


def _show(found: Imported) -> None:
    rows = [
        ("files", f"{found.files:,}"),
        ("pages", f"{found.pages:,} ({size(found.bytes)})"),
        ("redirects", f"{found.redirects:,}"),
        *([("dated by file", f"{found.redated:,}")] if found.redated else []),
        ("passed over", by_count(found.skipped)),
        ("time", f"{found.seconds:.1f} s"),
    ]
    print_table(rows)
    for trouble in found.trouble:
        where = "" if trouble["position"] is None else f" at {trouble['position']:,}"
        typer.echo(printable(f"{trouble['file']}{where}: {trouble['why']}"), err=True)
