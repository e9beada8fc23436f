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

if TYPE_CHECKING:
    from demo.shared_demo import Demo

# A busy machine takes longer for an example; limits of time belong to the tests that promise them.
hypothesis.settings.register_profile("periplus", deadline=None)
hypothesis.settings.load_profile("periplus")

# A shell starts background jobs with SIGINT ignored, and every process that a test starts would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, signal.SIG_DFL)


@pytest.fixture
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    """The demo of this test run, shared by all test processes, for one test at a time."""
    from demo.shared_demo import shared_demo

    base = tmp_path_factory.getbasetemp()
    with shared_demo((base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "shared-demo") as made:
        yield made
