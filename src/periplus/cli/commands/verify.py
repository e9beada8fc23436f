"""periplus verify: checks the files of a collection for damage."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table
from periplus.errors import DamagedFile, UsageError
from periplus.forget import check, read_receipt
from periplus.inspector.verify import verify
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(
    receipt: Annotated[
        Path | None, typer.Argument(metavar="[RECEIPT]", help="With --forgotten: check this receipt only.")
    ] = None,
    forgotten: Annotated[
        bool, typer.Option("--forgotten", help="Check that nothing forgotten is left or has come back.")
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Check that the files and the catalog of a collection are undamaged and agree; list every problem."""
    if receipt is not None and not forgotten:
        raise UsageError("a receipt is checked with --forgotten only", hint="periplus verify --forgotten RECEIPT")
    collection = open_collection(home)
    with collection.locked(alone=True):
        findings = check(collection, read_receipt(receipt) if receipt else None) if forgotten else verify(collection)
    if as_json:
        print_json(findings.report())
    else:
        state = ("FOUND" if forgotten else "DAMAGED") if findings.problems else "OK"
        waiting = Counter(file.node for file in findings.waiting)
        rows = [
            ("waiting", f"{plural(number, 'file')} of node {node}, not uploaded") for node, number in waiting.items()
        ]
        print_table([*findings.problems, *rows, ("checked", by_count(findings.checked)), ("result", state)])
    if findings.problems:
        first = findings.problems[0]
        what, why = f"{plural(len(findings.problems), 'problem')} found", f"{first.where}: {first.what}"
        raise DamagedFile(what, why, "Run `periplus forget --again`." if forgotten else None)
