"""Downloads and unpacks Debian packages without installing them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from harness.errors import BenchError

NEEDED_TOOLS = ("apt-get", "dpkg-deb", "taskset", "setpriv")


def unpack(names: Sequence[str], cache: Path) -> dict[str, Path]:
    """Downloads what is missing and returns the folder each package was unpacked to."""
    targets = {name: cache / "packages" / name for name in names}
    missing = [name for name, target in targets.items() if not target.is_dir()]
    if missing:
        _require_tools()
        archives = cache / "archives"
        archives.mkdir(parents=True, exist_ok=True)
        _download(missing, archives)
        for name in missing:
            _extract(_archive(archives, name), targets[name])
    return targets


def versions(names: Sequence[str], cache: Path) -> dict[str, str]:
    """The version of each package in the cache, for the result."""
    found = {name: sorted((cache / "archives").glob(f"{name}_*.deb")) for name in names}
    return {name: paths[-1].name.split("_")[1].replace("%3a", ":") for name, paths in found.items() if paths}


def _require_tools() -> None:
    absent = [tool for tool in NEEDED_TOOLS if shutil.which(tool) is None]
    if absent:
        raise BenchError(f"this bench needs Debian or Ubuntu: {', '.join(absent)} not found")


def _download(names: Sequence[str], folder: Path) -> None:
    print(f"downloading {len(names)} packages: {' '.join(names)}", file=sys.stderr)
    command = ["apt-get", "download", "-q", *names]
    result = subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True, timeout=900)
    if result.returncode:
        reason = re.sub(r"\s+", " ", result.stderr).strip()[-200:]
        raise BenchError(f"apt-get cannot download {' '.join(names)} (try 'apt-get update' first): {reason}")


def _archive(folder: Path, name: str) -> Path:
    candidates = sorted(folder.glob(f"{name}_*.deb"), key=lambda path: path.stat().st_mtime)
    if not candidates:
        raise BenchError(f"apt-get reported success but left no archive of {name}")
    return candidates[-1]


def _extract(archive: Path, target: Path) -> None:
    # A half-unpacked folder must never look complete to the next run.
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    command = ["dpkg-deb", "-x", str(archive), str(partial)]
    result = subprocess.run(command, check=False, capture_output=True, text=True)
    if result.returncode:
        raise BenchError(f"cannot unpack {archive.name}: {result.stderr.strip()[-200:]}")
    partial.rename(target)
