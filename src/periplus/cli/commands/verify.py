"""periplus verify: checks the files of a collection for damage."""

from __future__ import annotations

from pathlib import Path

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import by_count, plural, print_json, print_table
from periplus.errors import DamagedFile, NoCollection
from periplus.inspector.verify import verify
from periplus.store.collection import Collection, open_collection

app = typer.Typer(add_completion=False)


@app.command()
def command(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """Check that the files and the catalog of a collection are undamaged and agree; list every problem."""
    collection = _open(home)
    with collection.locked():
        findings = verify(collection)
    if as_json:
        print_json(findings.report())
    else:
        print_table([*findings.problems, ("checked", by_count(findings.checked))])
    if findings.problems:
        first = findings.problems[0]
        raise DamagedFile(f"{plural(len(findings.problems), 'problem')} found", f"{first.where}: {first.what}")


def _open(home: Path) -> Collection:
    try:
        return open_collection(home)
    except NoCollection:
        if not Collection(home).catalog.exists():
            raise
        raise DamagedFile(f"{home / 'collection.json'} is missing", "the folder has a catalog") from None
