"""periplus index: builds a new generation of the index, or makes an earlier one live again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table, size, warn_about_unread
from periplus.cli.progress import counter_progress
from periplus.config import load
from periplus.errors import UsageError
from periplus.frontier.scope import page_rules
from periplus.index.build import IndexSummary, build_index
from periplus.index.lineage import Continuation
from periplus.reparse import reparse
from periplus.store.block_list import read_block_list
from periplus.store.collection import open_collection
from periplus.store.compaction import compact
from periplus.store.generations import INDEX_KIND, Generations, number_of

app = typer.Typer(add_completion=False)


@app.command()
def command(
    number: Annotated[
        int | None, typer.Argument(metavar="[N]", min=1, help="Number of the generation for --rollback.")
    ] = None,
    home: Home = DEFAULT_HOME,
    rollback: Annotated[
        bool,
        typer.Option(
            "--rollback",
            metavar="",
            help="Build nothing: verify generation N and make it live; without N, the last one before the live one.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", metavar="", help="Write the whole index anew, even if an update is enough."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Bring the index up to date with all crawled pages; the old index stays in use until the new one is complete.

    Only new and changed pages are written; the whole index is written anew when much has changed. Pages are left out
    when they are gone or redirected, or when robots.txt or the current scope excludes them.
    """
    if rollback and full:
        raise UsageError("--rollback and --full exclude each other", hint="A rollback builds nothing.")
    if rollback:
        _roll_back(home, number, as_json=as_json)
    elif number is not None:
        raise UsageError(f"generation {number} is given without --rollback", hint="A build chooses its own number.")
    else:
        _build(home, full=full, as_json=as_json)


def _roll_back(home: Path, number: int | None, *, as_json: bool) -> None:
    live = number_of(Generations(open_collection(home).index, INDEX_KIND).roll_back(number))
    if as_json:
        print_json({"generation": live})
    else:
        print_table([("live", f"generation {live}")])


def _build(home: Path, *, full: bool, as_json: bool) -> None:
    settings = load(home).settings
    collection = open_collection(home)
    with counter_progress("parsing", "pages") as progress:
        reading = reparse(collection, settings, everything=False, on_progress=progress)
    with counter_progress("merging", "segments") as progress:
        compact(collection, on_progress=progress)
    with counter_progress("indexing", "pages") as progress:
        rules = page_rules(settings.scope, read_block_list(home))
        summary = build_index(collection, settings.index, progress, rules, Continuation(full=full))
    if as_json:
        print_json(asdict(summary) | {"unread": reading.unread, "failed_extractors": reading.failed_extractors})
    else:
        documents = f"{summary.documents:,} ({plural(summary.duplicates, 'duplicate')} merged)"
        print_table(
            [
                ("build", _described(summary)),
                ("documents", documents),
                ("left out", by_count(summary.left_out)),
                ("generation", str(summary.generation)),
                ("time", f"{summary.seconds:.1f} s"),
                ("size", size(summary.bytes)),
                ("next", "`periplus serve` starts the search site; `periplus search WORD` searches here."),
            ]
        )
        warn_about_unread(reading)


def _described(summary: IndexSummary) -> str:
    """How the index was built."""
    if summary.build == "none":
        return "nothing has changed"
    if summary.build == "full":
        return f"full ({summary.why})"
    return f"update ({summary.added:,} added, {summary.removed:,} removed, {summary.kept:,} kept)"
