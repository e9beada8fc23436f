"""Runs `periplus` and stops it inside one function, so that a test can send a signal at that moment.

Usage: python held.py MODULE:FUNCTION MARKER ARGUMENTS...

The function writes the file MARKER when it is called, and then waits for a minute.
"""

from __future__ import annotations

import sys
import time
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from periplus.__main__ import main


def held(marker: Path, *_: Any, **__: Any) -> None:
    marker.touch()
    for _slice in range(6_000):  # a signal that arrives just before a sleep is noticed after it
        time.sleep(0.01)


if __name__ == "__main__":
    place, marker, *sys.argv[1:] = sys.argv[1:]
    module, _, name = place.partition(":")
    owner: Any = import_module(module)
    *parts, last = name.split(".")
    for part in parts:
        owner = getattr(owner, part)
    setattr(owner, last, partial(held, Path(marker)))
    main()
