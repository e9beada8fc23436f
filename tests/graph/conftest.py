"""Tests of the link analysis that must hold for both kernels, whatever the size of the graph."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from periplus.graph import kernel_choice


@pytest.fixture(scope="module", params=["numpy", "numba"])
def each_kernel(request: pytest.FixtureRequest) -> Iterator[str]:
    """Uses the kernel of NumPy for every graph, then the compiled one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_choice, "FEW_LINKS", 1 << 60 if request.param == "numpy" else -1)
        yield request.param
