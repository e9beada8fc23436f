"""periplus prune: removes old versions of pages from the archive."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table, size
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.errors import CollectionLocked, UsageError
from periplus.retention import Pruned, prune
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Remove the versions of pages that are beyond `store.keep_versions` and `store.keep_days` from the archive.

    The newest version of a page always stays. While a crawl runs, the archive files that it writes are left out.
    """
    settings = load(home).settings.store
    if not settings.keep_versions and not settings.keep_days:
        hint = "Set store.keep_versions or store.keep_days in periplus.toml."
        raise UsageError("nothing to prune", "the settings keep all versions", hint)
    collection = open_collection(home)
    with ExitStack() as stack, counter_progress("pruning", "archive files") as progress:
        try:
            stack.enter_context(collection.locked(alone=True))
            is_alone = True
        except CollectionLocked:
            is_alone = False
        result = prune(collection, settings, is_alone=is_alone, dry_run=dry_run, on_progress=progress)
    if as_json:
        print_json(asdict(result))
    else:
        _show(result)


def _show(result: Pruned) -> None:
    would = "would be " if result.dry_run else ""
    rows = [
        (f"{would}removed", f"{plural(result.versions, 'archive record')} in {plural(result.files, 'file')}"),
        ("archive", f"{size(result.bytes_after)} (before: {size(result.bytes_before)})"),
    ]
    if result.waiting:
        rows.append(("waiting", f"{plural(result.waiting, 'record')} in files that a crawl is writing"))
    if result.damaged:
        rows.append(("damaged", f"{plural(result.damaged, 'file')} left as they are; run `periplus repair`"))
    print_table([*rows, ("time", f"{result.seconds:.1f} s")])
