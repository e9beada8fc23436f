"""Options of the commands that read judged queries: --queries, --qrels and --split."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import UsageError
from periplus.evaluation.judgements import DEV, TRAIN, Judgements, read_judgements

Queries = Annotated[
    Path,
    typer.Option(
        metavar="FILE",
        help="Judged queries: lines of id<TAB>text<TAB>URL[=grade] ..., or of id<TAB>text with --qrels.",
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


def judged_queries(
    queries: Path, qrels: Path | None, key: Callable[[str], str], split: Split = Split.ALL
) -> Judgements:
    """Reads the queries of a split; *key* makes names of documents comparable."""
    found = read_judgements(queries, qrels, key)
    chosen = found if split is Split.ALL else found.split(split)
    if not chosen.queries:
        raise UsageError(f"no query in {queries} is in the half {split.value!r}")
    return chosen
