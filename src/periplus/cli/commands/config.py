"""periplus config: shows the effective settings."""

from __future__ import annotations

from typing import Annotated

import typer

from periplus.cli.options import DEFAULT_HOME, Home, Json
from periplus.cli.output import print_json, print_table
from periplus.config import load

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def group() -> None:
    """Show the effective settings and where each value comes from."""


@app.command()
def show(
    home: Home = DEFAULT_HOME,
    origin: Annotated[bool, typer.Option("--origin", help="Also show where each value comes from.")] = False,
    as_json: Json = False,
) -> None:
    """Show every setting with its value: defaults, then periplus.toml, then the environment."""
    rows = list(load(home).rows())
    if as_json:
        print_json({key: {"value": value, "origin": layer} if origin else value for key, value, layer in rows})
    else:
        headings = ("setting", "value", "origin") if origin else ("setting", "value")
        print_table(((key, _text(value), layer)[: len(headings)] for key, value, layer in rows), headings)


def _text(value: object) -> str:
    if isinstance(value, dict):
        value = [f"{name} = {part}" for name, part in value.items()]
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
