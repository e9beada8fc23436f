"""periplus init: writes a commented periplus.toml for a new collection."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home
from periplus.cli.settings_template import FirstSettings, settings_text
from periplus.config import FILE_NAME, load
from periplus.errors import UsageError
from periplus.fetch.request import user_agent
from periplus.store.durable import write_file
from periplus.url import parse

app = typer.Typer(add_completion=False)


@app.command()
def command(
    urls: Annotated[list[str] | None, typer.Argument(metavar="URL", help="Where crawls start.")] = None,
    home: Home = DEFAULT_HOME,
    contact: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Your URL or e-mail address, sent with every request.")
    ] = None,
    scope_host: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Hosts to crawl; repeatable."),
    ] = None,
    name: Annotated[str | None, typer.Option(metavar="TEXT", help="Name of the search site.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing periplus.toml.")] = False,
) -> None:
    """Write a commented periplus.toml for a new collection: contact, where to start, and what to crawl.

    On a terminal, the command asks for what was not given.
    """
    path = home / FILE_NAME
    if path.exists() and not overwrite:
        raise UsageError(f"{path} exists already", hint="Edit it, or replace it with --overwrite.")
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    seeds = _seeds(urls or (_asked("Where should crawls start? (URLs)").split() if asks else []))
    if contact is None:
        contact = _asked("Your e-mail address or web page, for the sites you crawl") if asks else ""
    user_agent(contact)  # refuses a text that cannot be sent in a header
    first = FirstSettings(contact, seeds, scope_host or [], name or "")
    home.mkdir(parents=True, exist_ok=True)
    _write(path, settings_text(first))
    typer.echo(f"{path} is written.")
    if not contact:
        typer.echo("Without a contact, only private addresses are crawled: write it under [identity].")
    typer.echo(f"Next: `periplus up{_home_option(home)}` crawls, indexes and serves.")


def _asked(question: str) -> str:
    return str(typer.prompt(question, default="", show_default=False)).strip()


def _seeds(typed: list[str]) -> list[str]:
    """The URLs in canonical form; raises `BadUrl` before anything is written."""
    return [parse(url).text for url in typed]


def _write(path: Path, text: str) -> None:
    """Writes the file, and restores the one before if the settings in it are refused."""
    before = path.read_bytes() if path.exists() else None
    write_file(path, text.encode())
    try:
        load(path.parent)
    except UsageError:
        if before is None:
            path.unlink()
        else:
            write_file(path, before)
        raise


def _home_option(home: Path) -> str:
    return "" if home == DEFAULT_HOME else f" --home {home}"
