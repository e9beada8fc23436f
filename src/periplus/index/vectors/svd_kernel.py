"""The inner loop of the singular value decomposition, compiled by numba; imported for large matrices only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba
import numpy as np
from numpy.typing import NDArray

Function = TypeVar("Function", bound=Callable[..., object])


def _compiled(function: Function) -> Function:
    return cast("Function", numba.njit(nogil=True)(function))


@_compiled
def multiply(
    starts: NDArray[np.int64],
    columns: NDArray[np.uint16],
    values: NDArray[np.float32],
    dense: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Add the product of a sparse matrix by rows and a dense matrix to *out*."""
    for row in range(len(starts) - 1):
        total = out[row]
        for place in range(starts[row], starts[row + 1]):
            value, other = values[place], dense[columns[place]]
            for column in range(len(total)):
                total[column] += value * other[column]
