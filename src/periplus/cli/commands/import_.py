"""periplus import: imports pages from WARC and ARC files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.archives.importer import Imported, import_archives
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table, printable, size
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.errors import PartialFailure

app = typer.Typer(add_completion=False)


@app.command()
def command(
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="WARC or ARC files, compressed or not.")],
    home: Home = DEFAULT_HOME,
    ignore_scope: Annotated[
        bool, typer.Option("--ignore-scope", help="Also import pages outside the configured scope.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Import pages from WARC or ARC files made by Common Crawl, Heritrix, wget, browsers or other tools.

    Imported pages are treated like crawled pages by `rank`, `index` and `serve`. Unreadable records are listed and
    skipped. A page without a valid date gets a fallback date, which `inspect` names: from the Date header of its
    response, the previous record, or the file. Running the command again imports only new pages.

    Pages outside `scope.hosts`, `scope.paths` or another scope rule are skipped and counted. With --ignore-scope they
    are imported and stay in the index.
    """
    with counter_progress("importing", "bytes") as progress:
        found = import_archives(home, load(home).settings, files, progress, ignore_scope=ignore_scope)
    if as_json:
        print_json(asdict(found))
    else:
        _show(found)
    if found.broken:
        raise PartialFailure(f"{_broken(found)}; {plural(found.pages, 'page')} imported")


def _broken(found: Imported) -> str:
    if found.broken > 1:
        return f"{found.broken:,} records or files could not be read"
    return _line(found.trouble[0])


def _line(trouble: dict[str, Any]) -> str:
    where = "" if trouble["position"] is None else f" at {trouble['position']:,}"
    return printable(f"{trouble['file']}{where}: {trouble['why']}")


def _show(found: Imported) -> None:
    rows = [
        ("files", f"{found.files:,}"),
        ("pages", f"{found.pages:,} ({size(found.bytes)})"),
        ("redirects", f"{found.redirects:,}"),
        *([("fallback dates", f"{found.redated:,}")] if found.redated else []),
        ("skipped", by_count(found.skipped)),
        ("time", f"{found.seconds:.1f} s"),
        ("next", "`periplus rank`, then `periplus index`."),
    ]
    print_table(rows)
    if found.broken > 1:
        for trouble in found.trouble:
            typer.echo(_line(trouble), err=True)
