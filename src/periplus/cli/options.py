"""Options that several commands share: --home, --json, --host and --port."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import CollectionError


def _check_home(home: Path) -> Path:
    """Checks that *home* is a readable folder or does not exist yet."""
    try:
        str(home).encode()
        next(home.iterdir(), None)
    except UnicodeEncodeError:
        raise CollectionError(f"{str(home)!r} cannot be used", "its name is not UTF-8", "Choose another one.") from None
    except FileNotFoundError:
        return home
    except NotADirectoryError:
        raise CollectionError(f"{home} is not a folder", hint="Choose another folder with --home.") from None
    except OSError as error:
        raise CollectionError(
            f"{home} cannot be read", error.strerror or str(error), "Choose another folder with --home."
        ) from error
    return home


Home = Annotated[
    Path,
    typer.Option(
        "--home",
        envvar="PERIPLUS_HOME",
        metavar="FOLDER",
        help="Folder of the collection.",
        show_default=True,
        callback=_check_home,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Host = Annotated[str, typer.Option(metavar="ADDRESS", help="Address to listen on; 0.0.0.0 means all.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, metavar="PORT", help="Port to listen on; 0: any free one.")]
DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8080
DEFAULT_HOME = Path("periplus-data")
