"""The bench of growth says which stages grow too fast."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
STAGES = ("crawl", "reparse", "rank", "index")


def measured(pages: int, reparse: float) -> dict[str, dict[str, Any]]:
    """Figures of a size at which reparse costs ~ pages^reparse, and every other stage is linear."""
    cpu = {stage: pages ** (reparse if stage == "reparse" else 1.0) / 1e3 for stage in STAGES}
    figures = ("cpu_ms_per_page", "rss_mb", "bytes_per_page", "catalog_bytes_per_page")
    latency = ("p50_ms", "p99_ms", "mean_ms", "common_p50_ms", "rare_p50_ms", "title_p50_ms", "question_p50_ms")
    found: dict[str, dict[str, Any]] = {
        stage: {"cpu_seconds": cpu[stage], **dict.fromkeys(figures, 1)} for stage in STAGES
    }
    return found | {"query": dict.fromkeys((*latency, "rss_mb"), 1.0)}


def printed(monkeypatch: pytest.MonkeyPatch, sizes: list[int], reparse: float) -> list[str]:
    monkeypatch.syspath_prepend(str(BENCH))
    growth = import_module("growth")
    result = growth.summary(sizes, [measured(size, reparse) for size in sizes])
    text: str = growth.table(result)
    return text.splitlines()


@pytest.mark.parametrize(("exponent", "named"), [(1.05, "no stage"), (1.15, "reparse")])
def test_a_stage_that_grows_faster_than_the_bar_is_named(
    monkeypatch: pytest.MonkeyPatch, exponent: float, named: str
) -> None:
    lines = printed(monkeypatch, [1_000, 10_000, 100_000], exponent)
    assert lines[-1].endswith(f": {named}")
    assert [line.split()[0] for line in lines[:-1] if line.endswith("above the bar")] == (
        ["reparse"] if named == "reparse" else []
    )


def test_sizes_at_which_the_start_is_most_of_the_cost_do_not_meet_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "unknown" in printed(monkeypatch, [100, 1_000, 10_000], 1.5)[-1]
