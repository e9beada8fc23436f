"""A collection with something to forget, built once per process."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from forget.forgetting import build, sites
from testweb import TestWeb


@pytest.fixture(scope="session")
def private_web() -> Iterator[TestWeb]:
    with TestWeb(sites()) as web:
        yield web


@pytest.fixture(scope="session")
def built(private_web: TestWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("forget") / "home"
    build(private_web, home)
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    """A copy of the collection, for a test to change."""
    shutil.copytree(built, tmp_path / "home")
    return tmp_path / "home"
