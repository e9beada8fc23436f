"""Which options mean the same on every command?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Home = Annotated[
    Path, typer.Option("--home", envvar="PERIPLUS_HOME", help="Folder of the collection.", show_default=True)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
DEFAULT_HOME = Path("periplus-data")
