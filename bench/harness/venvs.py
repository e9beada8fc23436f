"""Installs Python peers into their own virtual environments."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.errors import BenchError


def provision(name: str, requirements: Sequence[str], cache: Path) -> Path:
    """Creates the virtual environment of a peer; returns its Python executable."""
    folder = cache / "venvs" / name
    python = folder / "bin" / "python"
    stamp = folder / "requirements.installed"
    wanted = "\n".join(requirements)
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"installing {' '.join(requirements)} for the peer {name}", file=sys.stderr)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], name)
    _run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", *requirements], name)
    stamp.write_text(wanted)
    return python


def version(python: Path, distribution: str) -> str:
    """The version of a library in the environment."""
    code = f"from importlib.metadata import version; print(version({distribution!r}))"
    return subprocess.check_output([str(python), "-c", code], text=True).strip()


def _run(command: Sequence[str], name: str) -> None:
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=900)
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no message"])[-1]
        raise BenchError(f"cannot set up the peer {name} ({' '.join(command[1:4])}): {reason}")
