"""Where is the data that nobody on this project wrote?

The conformance suites and real pages belong to others and are not part of the repository. They lie beside it, and a
test that needs them is skipped where they are absent.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"


def shared(path: str) -> Path:
    """The file or folder *path* of the shared data; skips the test (or the module, at import) where there is none."""
    if not _FOLDER.is_dir():
        reason = f"needs {path} of the shared test data, expected in ../shared/data beside the repository"
        pytest.skip(reason, allow_module_level=True)
    return _FOLDER / path


def is_there() -> bool:
    """Whether the shared data is beside the repository."""
    return _FOLDER.is_dir()
