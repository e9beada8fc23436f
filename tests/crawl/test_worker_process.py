"""Are workers pinned to cores only where they use all cores?"""

from __future__ import annotations

import os

import pytest

from periplus.crawl.worker_process import keep_to_one_core


@pytest.mark.parametrize(
    ("cores", "workers", "kept"),
    [
        ({0, 1}, 2, [{0}, {1}]),
        ({2, 5}, 3, [{2}, {5}, {2}]),
        ({0, 1}, 1, [None]),
        ({0, 1, 2, 3}, 2, [None, None]),
        ({3}, 2, [None, None]),
    ],
)
def test_each_worker_is_pinned_to_a_core_where_workers_use_all_cores(
    cores: set[int], workers: int, kept: list[set[int] | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: cores)
    for worker in range(workers):
        chosen: list[set[int]] = []
        monkeypatch.setattr(os, "sched_setaffinity", lambda _process, core, chosen=chosen: chosen.append(core))
        keep_to_one_core(worker, workers)
        assert chosen == ([kept[worker]] if kept[worker] else [])


def test_a_missing_core_or_a_system_without_affinity_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_process: int, _cores: set[int]) -> None:
        raise OSError("no such core")

    monkeypatch.setattr(os, "sched_getaffinity", lambda _process: {0, 1})
    monkeypatch.setattr(os, "sched_setaffinity", refuse)
    keep_to_one_core(0, 2)
    monkeypatch.delattr(os, "sched_setaffinity")
    keep_to_one_core(0, 2)
