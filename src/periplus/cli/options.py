"""Which options mean the same on every command?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.errors import CollectionError


def _usable(home: Path) -> Path:
    """Whatever is in the folder: it is one, or will be, and may be looked into."""
    try:
        str(home).encode()
        next(home.iterdir(), None)
    except UnicodeEncodeError:
        raise CollectionError(f"{str(home)!r} cannot be used", "its name is not UTF-8", "Name another one.") from None
    except FileNotFoundError:
        return home
    except NotADirectoryError:
        raise CollectionError(f"{home} is not a folder", hint="Name another one with --home.") from None
    except OSError as error:
        raise CollectionError(
            f"{home} cannot be read", error.strerror or str(error), "Name another one with --home."
        ) from error
    return home


Home = Annotated[
    Path,
    typer.Option(
        "--home", envvar="PERIPLUS_HOME", help="Folder of the collection.", show_default=True, callback=_usable
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
DEFAULT_HOME = Path("periplus-data")
