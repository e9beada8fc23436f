"""The truncated singular value decomposition of a sparse matrix, by random projection.

Importing numba takes a second and 100 MB, so the compiled product is used for large matrices only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from periplus.index.vectors.cooccurrence import Matrix

F32 = NDArray[np.float32]
_SEED = 1
_EXTRA = 16  # columns of the projection beyond those wanted
_POWERS = 2  # products with the matrix and its transpose that sharpen the projection
_COMPILED_FROM = 1_000_000  # values in the matrix
_SMALLEST = 1e-7  # eigenvalue relative to the largest; smaller ones are rounding errors
_TINY = 1e-30  # nothing is divided by 0
_AT_ONCE = 65_536  # values per block of the plain product


def left_vectors(matrix: Matrix, transposed: Matrix, dimensions: int) -> F32:
    """The first left singular vectors, each times the root of its singular value; missing dimensions are 0."""
    size = len(matrix.starts) - 1
    if not size:
        return np.zeros((0, dimensions), np.float32)
    width = min(dimensions + _EXTRA, size)
    base = np.random.default_rng(_SEED).standard_normal((size, width), np.float32)
    base = _orthonormal(product(matrix, base))
    for _ in range(_POWERS):
        base = _orthonormal(product(matrix, _orthonormal(product(transposed, base))))
    small = product(transposed, base)  # the transpose of: base transposed times matrix
    values, rotation = np.linalg.eigh((small.T @ small).astype(np.float64))
    best = np.argsort(-values)[:dimensions]
    scale = np.maximum(values[best], 0.0) ** 0.25  # eigenvalues are squares of the singular values
    found = np.zeros((size, dimensions), np.float32)
    found[:, : len(best)] = base @ (rotation[:, best] * scale).astype(np.float32)
    return found


def product(matrix: Matrix, dense: F32) -> F32:
    """The product of a sparse and a dense matrix."""
    if len(matrix.values) < _COMPILED_FROM:
        return _plain_product(matrix, dense)
    from periplus.index.vectors.svd_kernel import multiply  # noqa: PLC0415  # see above

    out = np.zeros((len(matrix.starts) - 1, dense.shape[1]), np.float32)
    multiply(matrix.starts, matrix.columns, matrix.values, dense, out)
    return out


def _plain_product(matrix: Matrix, dense: F32) -> F32:
    starts, columns, values = matrix
    out = np.zeros((len(starts) - 1, dense.shape[1]), np.float32)
    rows = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    for at in range(0, len(values), _AT_ONCE):
        some = slice(at, at + _AT_ONCE)
        weighted = dense[columns[some]] * values[some, None]
        changes = np.flatnonzero(np.diff(rows[some], prepend=-1))
        out[rows[some][changes]] += np.add.reduceat(weighted, changes, axis=0)
    return out


def _orthonormal(columns: F32) -> F32:
    """An orthonormal base of the same space; an eighth of the time of a QR decomposition. Twice, for precision."""
    for _ in range(2):
        values, rotation = np.linalg.eigh((columns.T @ columns).astype(np.float64))
        scale = 1.0 / np.sqrt(np.maximum(values, values[-1] * _SMALLEST + _TINY))
        columns = columns @ (rotation * scale).astype(np.float32)
    return columns
