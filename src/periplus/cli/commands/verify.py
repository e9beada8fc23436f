"""periplus verify: checks the files of a collection for damage."""

from __future__ import annotations

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table
from periplus.errors import DamagedFile
from periplus.inspector.verify import verify
from periplus.store.collection import open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Check that the files and the catalog of a collection are undamaged and agree; list every problem."""
    collection = open_collection(home)
    with collection.locked():
        findings = verify(collection)
    if as_json:
        print_json(findings.report())
    else:
        state = "DAMAGED" if findings.problems else "OK"
        print_table([*findings.problems, ("checked", by_count(findings.checked)), ("result", state)])
    if findings.problems:
        first = findings.problems[0]
        raise DamagedFile(f"{plural(len(findings.problems), 'problem')} found", f"{first.where}: {first.what}")
