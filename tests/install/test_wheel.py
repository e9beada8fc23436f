"""A built wheel installs into an empty environment without a compiler, and runs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from crawl.crawling import environment

ROOT = Path(__file__).parents[2]
SOURCES = ("pyproject.toml", "setup.py", "README.md", "LICENSE")
NO_COMPILER = {"PATH": "", "CC": "/bin/false"}


def run(*command: str | Path, **variables: str) -> str:
    done = subprocess.run(
        list(map(str, command)), env=environment() | variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from the sources alone."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler to build a wheel with")
    folder = tmp_path_factory.mktemp("wheel")
    shutil.copytree(
        ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("*.so", "*.c", "*.egg-info", "__pycache__")
    )
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder / "dist", folder)
    (built,) = (folder / "dist").glob("*.whl")
    return built


def fresh_environment(folder: Path) -> Path:
    venv.create(folder, with_pip=True)
    return folder / "bin" / "python"


@pytest.mark.slow
def test_the_wheel_has_all_it_needs(wheel: Path, tmp_path: Path) -> None:
    """Its dependencies are borrowed from here, to spare a minute."""
    python = fresh_environment(tmp_path / "environment")
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, **NO_COMPILER)
    (packages,) = (tmp_path / "environment").glob("lib/python*/site-packages")
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    for module in ("periplus.parse.glance.page", "periplus.text.words.table", "periplus.text.code_scan"):
        told = run(python, "-c", f"import {module} as compiled; print(compiled.__file__)")
        assert str(packages) in told, "the compiled module comes with the wheel"
    installed = packages / "periplus" / "web"
    for name in ("templates/search.html", "templates/boxes/weather.html", "places/places.xz"):
        assert (installed / name).exists(), f"{name} comes with the wheel"
    assert "crawl" in run(tmp_path / "environment" / "bin" / "periplus", "--help", **NO_COMPILER)
    run(tmp_path / "environment" / "bin" / "periplus", "doctor", "--home", tmp_path / "home", **NO_COMPILER)


@pytest.mark.long
def test_the_wheel_runs_the_demo_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "environment")
    lock = ROOT / "requirements" / "base.txt"
    run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", lock, **NO_COMPILER)
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel, **NO_COMPILER)
    home = tmp_path / "demo"
    told = run(tmp_path / "environment" / "bin" / "periplus", "demo", "--exit", "--home", home, PATH=os.defpath)
    assert "getopt" in told, "the results of a search for command line options"
