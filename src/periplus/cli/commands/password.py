"""periplus password: sets or removes the password of the console."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from periplus.cli.console_secrets import changeable, write_secrets
from periplus.cli.options import DEFAULT_HOME, Home
from periplus.errors import UsageError
from periplus.site.access.passwords import hash_password

app = typer.Typer(add_completion=False)


@app.command()
def command(
    home: Home = DEFAULT_HOME,
    remove: Annotated[
        bool, typer.Option("--remove", help="Remove the password: only this machine can use the console.")
    ] = False,
) -> None:
    """Set the password of the console; its hash is written to periplus.toml.

    On a terminal, the command asks for the password twice. Otherwise, it reads the password from the first line of its
    input. A running site accepts a new password within a second, and all sessions end.
    """
    configured = changeable(home, "console.password")
    if not remove or configured.password.get_secret_value():
        write_secrets(home, "console", {"password": None if remove else hash_password(_typed())})
    typer.echo("The console has no password now." if remove else "The console has a new password.")


def _typed() -> str:
    if sys.stdin.isatty():
        return str(typer.prompt("New password", hide_input=True, confirmation_prompt="Again", err=True))
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise UsageError("there is no password", "the first line of the input is empty")
    return password
