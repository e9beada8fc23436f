"""periplus tune: learns the weights of the ranking from judged queries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.fleet_index import collection_with
from periplus.cli.judgement_options import Qrels, Queries, Split, judged_queries, judgement_files
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.config import FILE_NAME, Ranking, load
from periplus.errors import UsageError
from periplus.evaluation.evaluate import as_json, open_judged_index
from periplus.evaluation.tuning import KEPT, L2, Tuner, Tuning
from periplus.evaluation.weights_file import write_weights
from periplus.search.scoring.score import FEATURES

_SHOWN = ("ndcg@10", "mrr", "s@1", "s@10")
_REFUSED = 1

app = typer.Typer(add_completion=False)


@app.command()
def command(
    queries: Queries = None,
    qrels: Qrels = None,
    keep: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Weights that stay as they are, with commas. `crowding` is never learned."),
    ] = ",".join(KEPT),
    l2: Annotated[
        float, typer.Option("--l2", min=1e-6, metavar="X", help="Regularisation: larger values give smaller weights.")
    ] = L2,
    folds: Annotated[
        int | None, typer.Option(min=2, max=100, metavar="N", help="Cross-validate in N folds and write nothing.")
    ] = None,
    split: Annotated[Split, typer.Option(help="Half of the queries to use; only with --folds.")] = Split.ALL,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    home: Home = DEFAULT_HOME,
    as_json_: Json = False,
) -> None:
    """Learn the weights of `[ranking]` on one half of the judged queries, and measure them on the other half.

    Writes the weights to periplus.toml if MRR and nDCG do not fall on the other half and one of them rises. Otherwise
    writes nothing and exits with 1.
    """
    if folds is None and split is not Split.ALL:
        raise UsageError("--split needs --folds", "without it, one half teaches and the other half tests")
    settings = load(home).settings
    files = judgement_files(home, queries, qrels)
    collection_with(home, "index")
    with open_judged_index(home, None, settings) as index:
        judged = judged_queries(*files, index.key, split)
        tuner = Tuner(index, settings, _kept(keep), l2)
        found = tuner.cross_validate(judged, folds) if folds else tuner.tune(judged)
    written = found.wins and not dry_run and folds is None
    if written:
        write_weights(home, found.weights)
    if as_json_:
        print_json(_json(found, written=written))
    else:
        _show(found, settings.ranking)
        typer.echo(_verdict(found, home, written=written, folds=folds))
    if folds is None and not found.wins:
        raise typer.Exit(_REFUSED)


def _kept(names: str) -> list[str]:
    kept = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in kept if name not in (*FEATURES, "crowding")]
    if unknown:
        raise UsageError(f"no feature is called {unknown[0]!r}", hint=f"Features: {', '.join(FEATURES)}.")
    return kept


def _json(found: Tuning, *, written: bool) -> dict[str, Any]:
    result: dict[str, Any] = {"weights": dict(found.weights), "wins": found.wins, "written": written}
    if found.learned is not None:
        before, after = found.learned
        result["train"] = {"before": as_json(before), "after": as_json(after, before)}
    return result | {"held_out": {"before": as_json(found.before), "after": as_json(found.after, found.before)}}


def _show(found: Tuning, current: Ranking) -> None:
    print_table(
        [(name, f"{getattr(current, name):g}", f"{weight:g}") for name, weight in found.weights.items()],
        ("weight", "before", "after"),
    )
    typer.echo()
    rows = []
    if found.learned is not None:
        before, after = found.learned
        rows.append(_row("training half", before.means, after.means, len(before.per_query)))
    rows.append(_row("held out", found.before.means, found.after.means, len(found.before.per_query)))
    by_group = found.after.group_means
    for name, means in found.before.group_means.items():
        rows.append(_row(f"  {name}", means, by_group[name], len(found.before.groups[name])))
    print_table(rows, ("queries", "number", *_SHOWN))
    compared = found.after.compared(found.before)
    for name in ("mrr", "ndcg@10"):
        typer.echo(f"held out: {name} {compared[name]}")


def _row(name: str, before: Mapping[str, float], after: Mapping[str, float], count: int) -> tuple[str, ...]:
    return name, f"{count:,}", *(f"{before[metric]:.3f} > {after[metric]:.3f}" for metric in _SHOWN)


def _verdict(found: Tuning, home: Path, *, written: bool, folds: int | None) -> str:
    if folds is not None:
        return "Nothing was written: cross-validation only measures."
    if written:
        return f"The weights are written to {home / FILE_NAME}. A running site uses them within a second."
    if found.wins:
        return "The learned weights are better. Nothing was written (--dry-run)."
    return "The learned weights are not better on the held-out half. Nothing was written."
