"""What has to be true before any test is loaded, and what do tests of several folders share?"""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the library warns about shims of its own at import
    import fastwarc as fastwarc

from postgres_server import own_postgres as own_postgres
from postgres_server import postgres as postgres
from postgres_server import shared_postgres as shared_postgres
from s3_server import bucket as bucket
from s3_server import s3 as s3
from s3_server import s3_server as s3_server
from spark_session import spark as spark

if TYPE_CHECKING:
    from pathlib import Path

    from demo.shared_demo import Demo
    from periplus.store.collection import Collection

# A busy machine takes longer for an example; limits of time belong to the tests that promise them.
hypothesis.settings.register_profile("periplus", deadline=None)
hypothesis.settings.load_profile("periplus")

# A shell starts background jobs with SIGINT ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the tests of a group first: then one process runs them all, because others steal from the end."""
    items.sort(key=lambda item: item.get_closest_marker("xdist_group") is None)


@pytest.fixture(params=["sqlite", "postgres"])
def any_collection(request: pytest.FixtureRequest, tmp_path: Path) -> Collection:
    """A folder for a catalog, once with SQLite and once with PostgreSQL."""
    from periplus.store.collection import Collection

    return Collection(tmp_path, request.getfixturevalue("postgres") if request.param == "postgres" else "")


@pytest.fixture
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo of this test run, shared by all test processes, for one test at a time."""
    from demo.shared_demo import shared_demo

    base = tmp_path_factory.getbasetemp()
    with shared_demo((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-demo") as made:
        yield made
