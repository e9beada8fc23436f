"""Writes a hash of the console's password or of a token into periplus.toml, and advises to make the file private."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import typer

from periplus.config import Console, load
from periplus.config.toml_edit import Value
from periplus.errors import CollectionError, UsageError
from periplus.store.settings_file import is_readable_by_others, write_settings


def changeable(home: Path, key: str) -> Console:
    """The settings of the console; raises an error when a change of this setting in periplus.toml has no effect."""
    if not home.is_dir():
        raise CollectionError(f"{home} does not exist", hint="Run `periplus init`, or name the folder with --home.")
    configured = load(home)
    if configured.origins.get(key) == "environment":
        raise UsageError(f"{key} cannot be changed", "the environment overrides it", "Change the variable instead.")
    return configured.settings.console


def write_secrets(home: Path, table: str, values: Mapping[str, Value]) -> None:
    """Changes hashes in periplus.toml; a new file can be read by its owner only."""
    path = write_settings(home, table, values, is_private=True)
    if is_readable_by_others(path):
        typer.echo(f"Other users of this machine may read {path}: run `chmod 600 {path}`.", err=True)
