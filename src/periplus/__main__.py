"""Starts the command: `periplus`, or `python -m periplus`."""

from __future__ import annotations

import os
from typing import NoReturn

from periplus.signals import Stopped, stoppable


def main() -> NoReturn:
    """Runs the `periplus` program. Ctrl-C during the imports prints one line, not a traceback."""
    try:
        with stoppable():
            from periplus.cli.main import main as command  # noqa: PLC0415  # the signal handlers come first
    except Stopped as stopped:
        os.write(2, f"periplus: {stopped}. Nothing was changed.\n".encode())
        os._exit(stopped.exit_code)
    command()


if __name__ == "__main__":
    main()
