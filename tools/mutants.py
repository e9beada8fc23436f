"""Checks that the tests fail when a guard is removed (mutation testing).

Each mutant in `mutants.toml` changes one line of a copy of the source, and names the tests that must fail. The exit
code is 1 when the tests of a mutant pass.

Usage: python tools/mutants.py [WORD...]   only mutants whose file or purpose contains one of the words
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
GREEN, RED = 0, 1  # exit codes of pytest; others mean that no test was run
TIMEOUT = 180  # seconds; a test that hangs counts as failed


class Mutant(NamedTuple):
    """One line of the source, its replacement, and the tests that must fail."""

    keeps: str
    file: str  # below src/periplus
    old: str
    new: str
    tests: str  # arguments of pytest, in the folder tests


class Workspace:
    """A copy of source and tests, to which mutants are applied one at a time; the shared test data is beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / ROOT.name
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, self._folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", self._folder)
        (folder / "shared").symlink_to(ROOT.parent / "shared")
        self.are_green = cache(self._are_green)

    def verdict(self, mutant: Mutant) -> str:
        """The result of a mutant: noticed, or why not."""
        path = self._folder / "src" / "periplus" / mutant.file
        source = path.read_text()
        if source.count(mutant.old) != 1:
            return f"stale: the line occurs {source.count(mutant.old)} times"
        if not self.are_green(mutant.tests):
            return "void: its tests fail without it"
        path.write_text(source.replace(mutant.old, mutant.new))
        try:
            code = self._run(mutant.tests)
        finally:
            path.write_text(source)
        return {RED: "noticed", GREEN: "SURVIVED"}.get(code, f"void: pytest ended with {code}")

    def _are_green(self, tests: str) -> bool:
        return self._run(tests) == GREEN

    def _run(self, tests: str) -> int:
        options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-m", "not long"]
        command = [sys.executable, "-B", "-m", "pytest", *options, *_words(tests)]
        env = os.environ | {"PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        process = subprocess.Popen(
            command,
            cwd=self._folder,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            return RED
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _words(tests: str) -> list[str]:
    paths, _, expression = tests.partition(" -k ")
    return [f"tests/{path}" for path in paths.split()] + (["-k", expression] if expression else [])


def wanted(words: Iterable[str]) -> list[Mutant]:
    """The mutants of the list, or those whose file or purpose contains one of the words."""
    mutants = [Mutant(**entry) for entry in tomllib.loads(LIST.read_text())["mutant"]]
    return [m for m in mutants if not words or any(word in m.file or word in m.keeps for word in words)]


def main() -> int:
    """Prints a line for each mutant, and returns the exit code."""
    missed = 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        workspace = Workspace(Path(folder))
        for mutant in wanted(sys.argv[1:]):
            verdict = workspace.verdict(mutant)
            missed += verdict != "noticed"
            print(f"{verdict:10} {mutant.file}: {mutant.keeps}", flush=True)  # noqa: T201
    print(f"{missed} not noticed" if missed else "all noticed")  # noqa: T201
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
