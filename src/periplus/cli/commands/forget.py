"""periplus forget: removes a page or a host from a collection, and blocks its return."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table, printable, size
from periplus.cli.progress import step_progress
from periplus.config import Settings, load
from periplus.errors import Interrupted, UsageError
from periplus.forget import Forgotten, allow, forget, forget_again

app = typer.Typer(add_completion=False)

_NAMED = 5  # URLs with the same content
_NOUNS = {  # of the kinds in a receipt, in the order in which they are shown
    "pages": "page version",
    "archive_records": "archive record",
    "urls": "known URL",
    "fetches": "fetch row",
    "links": "link",
    "hosts": "host",
    "seeds": "seed",
    "robots": "robots.txt file",
    "duplicates": "duplicate",
    "patterns": "trap pattern",
    "forwarded_urls": "forwarded URL",
    "refused_samples": "refused link",
    "refusal_counts": "refusal counter",
    "mentions": "mention",
    "judgements": "judgement",
    "kept_files": "damaged file in kept/",
}


@app.command()
def command(
    name: Annotated[str, typer.Argument(metavar="URL|HOST", help="A URL, or a host name for all its URLs.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be removed.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    lift: Annotated[bool, typer.Option("--allow", help="Lift the block; nothing comes back by itself.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Remove what came back with restored files; needs no URL.")
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Remove a page, or all pages of a host, from every file of the collection, and block its return.

    Ranks and index are built anew without it. No crawl may be running; a running site switches by itself. The receipt
    and the block list hold hashes only. `periplus verify --forgotten` checks that nothing is left.
    """
    settings = load(home).settings
    if not name and not again:
        raise UsageError("nothing to forget", "no URL or host was given", "Usage: periplus forget URL|HOST")
    if lift:
        target = allow(home, settings, name)
        _show_done(f"{target.name} is not blocked any more.", {"kind": target.kind, "blocked": False}, as_json=as_json)
        return
    if not dry_run and not yes:
        _confirm(home, settings, name)
    with step_progress(quiet=as_json) as on_step:
        if again:
            forget_again(home, settings, on_step)
            _show_done("Everything on the block list was removed again.", {"again": True}, as_json=as_json)
            return
        found = forget(home, settings, name, dry_run=dry_run, on_step=on_step)
    if as_json:
        print_json(found.report())
    else:
        _show(found)


def _show_done(sentence: str, report: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print_json(report)
    else:
        typer.echo(printable(sentence))


def _confirm(home: Path, settings: Settings, name: str) -> None:
    """Ask on a terminal; elsewhere, --yes is needed."""
    if not sys.stdin.isatty():
        raise UsageError("forgetting cannot be undone", hint="Add --yes, or see what would go with --dry-run.")
    if name:
        with step_progress(quiet=False) as on_step:
            _show(forget(home, settings, name, dry_run=True, on_step=on_step))
    if not typer.confirm("Forget it? This cannot be undone"):
        raise Interrupted("nothing was changed")


def _amounts(removed: Mapping[str, int]) -> str:
    """`1 page, 3 archive records (1.9 kB), 4 links`, or a dash."""
    bytes_erased = {"archive_records": f" ({size(removed.get('archive_bytes', 0))})"}
    nouns = {name: noun for name, noun in _NOUNS.items() if name in removed}
    return ", ".join(plural(removed[name], noun) + bytes_erased.get(name, "") for name, noun in nouns.items()) or "-"


def _show(found: Forgotten) -> None:
    receipt, target = found.receipt, found.target
    would = "would be " if found.file is None else ""
    rows = [
        (f"{would}forgotten", f"{target.kind} {target.name}"),
        (f"{would}removed", _amounts(receipt.removed)),
    ]
    if receipt.same_content:
        names = ", ".join(found.same_content[:_NAMED]) + (" ..." if receipt.same_content > _NAMED else "")
        rows.append(("stays", f"{plural(receipt.same_content, 'other URL')} with the same content: {names}"))
    if receipt.kept_bodies:
        rows.append(("stays", f"{plural(receipt.kept_bodies, 'archived body')} that records of other URLs refer to"))
    if found.in_settings:
        rows.append(("settings", f"scope.seeds in periplus.toml still names {', '.join(found.in_settings)}"))
    if found.file is not None:
        rows.append(("receipt", str(found.file)))
        rows.append(("next", "`periplus verify --forgotten` checks that nothing is left."))
    print_table(rows)
