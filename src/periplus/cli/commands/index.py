"""periplus index: builds a new generation of the index, or makes an earlier one live again."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.engines import Engine, EngineName, Master, chosen_session, runner_of
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table, size, warn_about_unread
from periplus.cli.progress import counter_progress
from periplus.config import Settings, load
from periplus.errors import UsageError
from periplus.frontier.scope import page_rules
from periplus.index.build import IndexSummary, build_index
from periplus.index.planning.lineage import Continuation
from periplus.reparse import Reparsed, reparse
from periplus.store.catalog.open_catalog import block_list_of
from periplus.store.collection import open_collection
from periplus.store.fleet_files.shared_generations import roll_back
from periplus.store.segments.compaction import compact
from periplus.store.task_runner import TaskRunner

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
            help="Build nothing: verify generation N and make it live; without N, the last one before the live one.",
        ),
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="Write the whole index anew, even if an update is enough."),
    ] = False,
    shards: Annotated[
        int | None,
        typer.Option("--shards", metavar="N", min=1, max=64, help="Number of shards, instead of index.shards."),
    ] = None,
    engine: Engine = EngineName.LOCAL,
    master: Master = "",
    as_json: Json = False,
) -> None:
    """Bring the index up to date with all crawled pages; the old index stays in use until the new one is complete.

    Only new and changed pages are written; the whole index is written anew when much has changed. Pages are left out
    when they are gone or redirected, or when robots.txt or the current scope excludes them. An index with several
    shards, which several machines can serve, is always rebuilt in full.
    """
    if rollback and full:
        raise UsageError("--rollback and --full exclude each other", hint="A rollback builds nothing.")
    if rollback:
        _roll_back(home, number, as_json=as_json)
    elif number is not None:
        raise UsageError(f"generation {number} is given without --rollback", hint="A build chooses its own number.")
    else:
        settings = load(home, {} if shards is None else {"index.shards": shards}).settings
        with chosen_session(engine, master, settings.spark) as session:
            reading, summary = _build(home, settings, Continuation(full=full), runner_of(session))
        _show(reading, summary, as_json=as_json)


def _roll_back(home: Path, number: int | None, *, as_json: bool) -> None:
    live = roll_back(open_collection(home), "index", number)
    if as_json:
        print_json({"generation": live})
    else:
        print_table([("live", f"generation {live}")])


def _build(
    home: Path, settings: Settings, limits: Continuation, runner: TaskRunner | None
) -> tuple[Reparsed, IndexSummary]:
    """Parse what was not parsed yet, merge small segments and build the index; *runner*: its tasks do the work."""
    collection = open_collection(home)
    with counter_progress("parsing", "pages") as progress:
        reading = reparse(collection, settings, everything=False, on_progress=progress, runner=runner)
    with counter_progress("merging", "segments") as progress:
        compact(collection, on_progress=progress, runner=runner)
    with counter_progress("indexing", "pages" if runner is None else "partitions") as progress:
        rules = page_rules(settings.scope, block_list_of(collection))
        summary = build_index(collection, settings.index, progress, rules, limits, runner=runner)
    return reading, summary


def _show(reading: Reparsed, summary: IndexSummary, *, as_json: bool) -> None:
    if as_json:
        print_json(asdict(summary) | {"unread": reading.unread, "failed_extractors": reading.failed_extractors})
    else:
        documents = f"{summary.documents:,} ({plural(summary.duplicates, 'duplicate')} merged)"
        print_table(
            [
                ("build", _described(summary)),
                ("documents", documents),
                *([("shards", str(summary.shards))] if summary.shards > 1 else []),
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
