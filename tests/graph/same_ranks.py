"""Compares two rankings of the same pages."""

from __future__ import annotations

import numpy as np

from periplus.store.ranks import RankTable


def assert_same(table: RankTable, local: RankTable) -> None:
    """Ranks that differ by at most 1e-6 in all, the same first 1,000 pages, and the same other files."""
    assert np.abs(table.ranks - local.ranks).sum() <= 1e-6
    best, expected = (np.argsort(-one.ranks, kind="stable")[:1000] for one in (table, local))
    assert [table.url(int(node)) for node in best] == [local.url(int(node)) for node in expected]
    for path in sorted(local.folder.glob("*.*")):
        if path.name not in {"meta.json", "ranks.npy"}:
            assert path.read_bytes() == (table.folder / path.name).read_bytes(), path.name
