"""periplus token: manages the tokens with which programs use the console."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.console_secrets import changeable, write_secrets
from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json
from periplus.config import load
from periplus.config.console_settings import TOKEN_NAME
from periplus.errors import UsageError
from periplus.site.access.tokens import hash_token, new_token

app = typer.Typer(add_completion=False, no_args_is_help=True)
_TABLE = "console.tokens"
_Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the token.")]


@app.callback()
def group() -> None:
    """Add, list or remove the tokens with which programs use the console."""


@app.command()
def add(name: _Name, home: Home = DEFAULT_HOME) -> None:
    """Print a new token once; only its hash is written to periplus.toml."""
    if not TOKEN_NAME.fullmatch(name):
        raise UsageError(f"{name!r} is not a name", "it may have 40 letters, digits, hyphens and underscores")
    if name in changeable(home, _TABLE).tokens:
        raise UsageError(f"there is a token {name} already", hint=f"`periplus token remove {name}` removes it.")
    token = new_token()
    write_secrets(home, _TABLE, {name: hash_token(token)})
    typer.echo(token)
    typer.echo("Copy the token now: it is not shown again. Send it as `Authorization: Bearer TOKEN`.", err=True)


@app.command("list")
def list_(home: Home = DEFAULT_HOME, as_json: Json = False) -> None:
    """List the names of the tokens."""
    names = sorted(load(home).settings.console.tokens)
    if as_json:
        print_json({"tokens": names})
    elif names:
        typer.echo("\n".join(names))
    else:
        typer.echo("There are no tokens. `periplus token add NAME` makes one.", err=True)


@app.command()
def remove(name: _Name, home: Home = DEFAULT_HOME) -> None:
    """Remove a token; a running site refuses it within a second."""
    if name not in changeable(home, _TABLE).tokens:
        raise UsageError(f"there is no token {name!r}", hint="`periplus token list` lists them.")
    write_secrets(home, _TABLE, {name: None})
    typer.echo(f"The token {name} is removed.")
