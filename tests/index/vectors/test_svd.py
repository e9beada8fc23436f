"""The random decomposition finds what the exact one finds."""

from __future__ import annotations

import numpy as np
import pytest

from periplus.index.vectors import svd
from periplus.index.vectors.cooccurrence import Matrix


def sparse(dense: np.ndarray) -> Matrix:
    rows, columns = np.nonzero(dense)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(dense)))])
    return Matrix(starts, columns.astype(np.uint16), dense[rows, columns].astype(np.float32))


def made(size: int, rank: int) -> np.ndarray:
    random = np.random.default_rng(7)
    content = random.standard_normal((size, rank)) @ random.standard_normal((rank, size))
    content[random.random(size) < 0.2] = 0  # empty rows
    return content


def test_a_matrix_of_low_rank_is_decomposed_exactly() -> None:
    content = made(200, 8)
    found = svd.left_vectors(sparse(content), sparse(content.T), 16)
    left, values, _ = np.linalg.svd(content)
    expected = left[:, :8] * np.sqrt(values[:8])
    assert found @ found.T == pytest.approx(expected @ expected.T, abs=1e-2 * values[0])
    assert np.abs(found[:, 8:]).max() < 0.02 * np.abs(found).max()


def test_fewer_rows_than_dimensions_leave_dimensions_empty() -> None:
    content = made(6, 6)
    found = svd.left_vectors(sparse(content), sparse(content.T), 16)
    assert found.shape == (6, 16)
    assert not found[:, 6:].any()


@pytest.mark.parametrize("at_once", [1, 7, 65_536])
def test_the_plain_product_is_exact(at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svd, "_AT_ONCE", at_once)
    content, dense = made(40, 10), np.random.default_rng(2).standard_normal((40, 5), np.float32)
    assert svd.product(sparse(content), dense) == pytest.approx(content @ dense, abs=1e-3)


@pytest.mark.slow
def test_the_compiled_product_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(svd, "_COMPILED_FROM", 0)
    content, dense = made(40, 10), np.random.default_rng(2).standard_normal((40, 5), np.float32)
    assert svd.product(sparse(content), dense) == pytest.approx(content @ dense, abs=1e-3)
