"""periplus eval: measures the ranking with judged queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.fleet_index import collection_with
from periplus.cli.judgement_options import Qrels, Queries, Split, judged_queries, judgement_files
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.config import load
from periplus.errors import UsageError
from periplus.evaluation.evaluate import ALL_PROFILES, OURS, Evaluation, as_json, evaluate, open_judged_index
from periplus.evaluation.metrics import METRICS, Figures
from periplus.evaluation.misses import Miss, misses

_EVERY = "all"
_COMPARED = ("ndcg@10", "mrr")  # figures whose differences are printed; --json has all

app = typer.Typer(add_completion=False)


@app.command()
def command(
    queries: Queries = None,
    qrels: Qrels = None,
    docs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='Search these documents instead of the collection: lines of {"id": ..., "title": ..., "text": ...}.',
        ),
    ] = None,
    profile: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help=f"Ranking to measure; repeatable; the others are compared with the first. One of "
            f"{', '.join(ALL_PROFILES)}, or `{_EVERY}`. Without it: `{OURS}`, with the weights of the settings.",
        ),
    ] = None,
    split: Annotated[Split, typer.Option(help="Half of the queries to use, by a hash of their ids.")] = Split.ALL,
    show_misses: Annotated[
        bool, typer.Option("--misses", help="List lost queries, and the features that lost them.")
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json_: Json = False,
) -> None:
    """Measure the ranking: nDCG, MAP, MRR, success, precision and recall over judged queries.

    A page is right from grade 2 when every query has such a page, else from grade 1.
    """
    profiles = _profiles(profile or [OURS])
    if docs is not None and queries is None:
        raise UsageError("--docs needs --queries", "judgements of the collection do not name these documents")
    files = judgement_files(home, queries, qrels)
    settings = load(home).settings
    if docs is None:
        collection_with(home, "index")
    with open_judged_index(home, docs, settings) as index:
        judged = judged_queries(*files, index.key, split)
        found = list(evaluate(index, judged, profiles, settings).values())
        lost = list(misses(index, judged, settings)) if show_misses else []
    if as_json_:
        print_json(_json(found, lost if show_misses else None))
    else:
        _show(found, lost if show_misses else None)


def _profiles(names: Sequence[str]) -> list[str]:
    wanted = list(ALL_PROFILES if _EVERY in names else dict.fromkeys(names))
    unknown = [name for name in wanted if name not in ALL_PROFILES]
    if unknown:
        raise UsageError(f"no profile is called {unknown[0]!r}", hint=f"Profiles: {', '.join(ALL_PROFILES)}.")
    return wanted


def _json(found: Sequence[Evaluation], lost: Iterable[Miss] | None) -> dict[str, Any]:
    """The figures of the first profile; those of the others are in a list."""
    result = as_json(found[0])
    if found[1:]:
        result["others"] = [as_json(one, found[0]) for one in found[1:]]
    if lost is not None:
        result["misses"] = [asdict(miss) for miss in lost]
    return result


def _show(found: Sequence[Evaluation], lost: Sequence[Miss] | None) -> None:
    rows = []
    for one in found:
        rows.append(_row(one.profile, "", len(one.per_query), one.means))
        rows += [_row("", name, len(one.groups[name]), means) for name, means in one.group_means.items()]
    print_table(rows, ("profile", "class", "queries", *METRICS))
    for one in found[1:]:
        for name, other in one.compared(found[0]).items():
            if name in _COMPARED:
                typer.echo(f"{one.profile} against {found[0].profile}: {name} {other}")
    if lost is not None:
        print_table([_miss_row(miss) for miss in lost], ("lost query", "right page", "place", "lost to", "by"))


def _row(profile: str, group: str, count: int, means: Figures) -> tuple[str, ...]:
    return profile, group, f"{count:,}", *(f"{means[name]:.4f}" for name in METRICS)


def _miss_row(miss: Miss) -> tuple[str, ...]:
    place = str(miss.place) if miss.place else "not a candidate" if miss.indexed else "not in the index"
    lost = ", ".join(f"{name} {loss:.2f}" for name, loss in miss.lost.items())
    return f"{miss.id} {miss.query}", miss.right, place, miss.first or "no results", lost
