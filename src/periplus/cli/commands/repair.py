"""periplus repair: rebuilds the damaged files of a collection."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import plural, print_json, print_table, printable
from periplus.cli.progress import step_progress
from periplus.config import load
from periplus.errors import DamagedFile
from periplus.repair import Repaired, repair

app = typer.Typer(add_completion=False)


@app.command()
def command(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the damage and what would be done; exit 1 if any.")
    ] = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Rebuild damaged files from the archive, and queue the pages whose archive records are damaged.

    Nothing intact is deleted; damaged bytes of the archive and the catalog are copied to the folder `kept` first.
    """
    settings = load(home).settings
    with step_progress(quiet=as_json) as on_step:
        result = repair(home, settings, dry_run=dry_run, on_step=on_step)
    if as_json:
        print_json(result.report())
    else:
        _show(result)
    left = result.problems if dry_run else result.left
    if left:
        found = f"{plural(len(left), 'problem')} {'found' if dry_run else 'left'}"
        hint = "Run `periplus repair` without --dry-run." if dry_run else "Please report this."
        raise DamagedFile(found, f"{left[0].where}: {left[0].what}", hint)


def _show(result: Repaired) -> None:
    if not result.problems:
        typer.echo(f"No damage found in {result.seconds:.1f} s.")
        return
    print_table([*result.problems, *(("would" if result.dry_run else "done", action) for action in result.actions)])
    if result.lost:
        typer.echo(f"{plural(result.lost, 'archive record')} lost. The next `periplus crawl` fetches the pages again:")
        for url in result.lost_urls:
            typer.echo(f"  {printable(url)}")
    if result.kept:
        typer.echo(f"Damaged data was kept in {', '.join(result.kept[:5])}{' ...' if result.kept[5:] else ''}.")
