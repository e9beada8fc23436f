"""periplus rank: computes PageRank for every known page and host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from periplus.cli.engines import Engine, EngineName, Master, chosen_session
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table
from periplus.cli.progress import step_progress
from periplus.config import load
from periplus.graph.run import RankSummary, rank
from periplus.store.collection import Collection, open_collection

if TYPE_CHECKING:
    from periplus.graph.spark_engine import SparkEngine
    from periplus.spark.session import SparkSession

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    warm: Annotated[
        bool, typer.Option("--warm", help="Start from the previous ranks; needs fewer iterations.")
    ] = False,
    engine: Engine = EngineName.LOCAL,
    master: Master = "",
    as_json: Json = False,
) -> None:
    """Compute PageRank for every known page and host, and collect anchor texts."""
    settings = load(home).settings
    collection = open_collection(home)
    with chosen_session(engine, master, settings.spark) as session, step_progress(quiet=as_json) as progress:
        spark = _spark_engine(collection, session) if session else None
        summary = rank(collection, settings.graph, warm=warm, progress=progress, engine=spark)
    if as_json:
        print_json(summary.report())
    else:
        print_table(_rows(summary, len(settings.graph.trusted_hosts)))


def _spark_engine(collection: Collection, session: SparkSession) -> SparkEngine:
    from periplus.graph.spark_engine import SparkEngine  # noqa: PLC0415  # needs an extra

    return SparkEngine(collection, session)


def _rows(summary: RankSummary, trusted: int) -> list[tuple[str, str]]:
    known = f"{summary.pages:,} crawled, {summary.nodes - summary.pages:,} only known from links"
    trust = [("trusted", f"{summary.trusted} of {plural(trusted, 'host')} known")] if trusted else []
    return [
        ("ranks", f"generation {summary.generation}"),
        ("pages", f"{summary.nodes:,} ({known}) on {plural(summary.hosts, 'host')}"),
        ("links", f"{summary.edges:,} counted"),
        ("PageRank", f"{plural(summary.iterations, 'iteration')}, error {summary.delta:.1e}"),
        *trust,
        ("time", f"{summary.seconds:.1f} s"),
        ("next", "`periplus index` uses the ranks."),
    ]
