"""Chooses the functions of the link analysis: NumPy for small graphs, compiled by numba for large ones."""

from __future__ import annotations

from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from periplus.graph import plain_kernel

U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

FEW_LINKS = 2_000_000  # up to here NumPy takes less CPU time than importing and compiling the kernel


class Kernel(Protocol):
    """The modules `kernel` and `plain_kernel`; their functions say what they do."""

    def count(self, keys: U32, counts: I64) -> None: ...  # noqa: D102
    def place(self, keys: U32, values: U32, cursor: I64, out: U32) -> None: ...  # noqa: D102
    def transpose(self, indptr: I64, rows: U32, cursor: I64, out: U32) -> None: ...  # noqa: D102
    def filter_links(  # noqa: D102
        self, indptr: I64, sources: U32, host: U32, limit: int, document: U32
    ) -> tuple[int, I64, U32]: ...
    def host_votes(self, indptr: U64, sources: U32, host: U32, hosts: int) -> tuple[U32, U32, U32]: ...  # noqa: D102
    def pull(  # noqa: D102
        self,
        indptr: U64,
        sources: U32,
        given: F32,
        inverse: F32,
        teleport: F32,
        damping: float,
        base: float,
        rank: F32,
        gives: F32,
        first: int,
        last: int,
    ) -> tuple[float, float]: ...
    def pull_weighted(  # noqa: D102
        self,
        indptr: I64,
        sources: U32,
        weights: F64,
        rank: F64,
        teleport: F64,
        damping: float,
        base: float,
        new: F64,
    ) -> float: ...


def kernel_for(links: int) -> Kernel:
    """The functions for a graph with so many links."""
    return plain_kernel if links <= FEW_LINKS else _compiled_kernel()


@cache
def _compiled_kernel() -> Kernel:
    """The compiled functions, or those of NumPy where numba cannot be imported."""
    try:
        from periplus.graph import kernel  # noqa: PLC0415  # takes a second and 100 MB
    except ImportError:
        return plain_kernel
    return kernel
