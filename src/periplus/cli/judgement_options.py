"""Options of the commands that read judged queries: --queries, --qrels and --split."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import UsageError
from periplus.evaluation.judgements import DEV, TRAIN, Judgements, read_judgements
from periplus.evaluation.own_judgements import OwnJudgements
from periplus.store.collection import open_collection

Queries = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Judged queries: lines of id<TAB>text<TAB>URL[=grade] ..., or of id<TAB>text with --qrels. Without it: "
        "the results that the owner judged on the site.",
    ),
]
Qrels = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Judgements in the form of TREC: lines of `query 0 document grade`.")
]


class Split(StrEnum):
    """The queries to use."""

    ALL = "all"
    TRAIN = TRAIN
    DEV = DEV


def judgement_files(home: Path, queries: Path | None, qrels: Path | None) -> tuple[Path, Path | None]:
    """The files with queries and judgements: those of the options, otherwise those of the collection."""
    if queries is not None:
        return queries, qrels
    if qrels is not None:
        raise UsageError("--qrels needs --queries", "the judgements name queries by their ids")
    own = OwnJudgements(open_collection(home))
    if not own.exist:
        hint = "Name a file with --queries, or judge results in the menus of the result page of `periplus serve`."
        raise UsageError("there are no judged queries", hint=hint)
    typer.echo(f"Using the results that were judged on the site, in {own.qrels.parent}", err=True)
    return own.queries, own.qrels


def judged_queries(
    queries: Path, qrels: Path | None, key: Callable[[str], str], split: Split = Split.ALL
) -> Judgements:
    """Reads the queries of a split; *key* makes names of documents comparable."""
    found = read_judgements(queries, qrels, key)
    chosen = found if split is Split.ALL else found.split(split)
    if not chosen.queries:
        raise UsageError(f"no query in {queries} is in the half {split.value!r}")
    return chosen
