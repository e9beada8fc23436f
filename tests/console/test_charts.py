"""Counters become rates, and lines fit into the picture."""

from __future__ import annotations

from typing import Any

from periplus.console.charts import HEIGHT, WIDTH, chart_data, highest, newest, points


def line(figures: list[dict[str, Any]], chart: str, number: int = 0) -> list[float | None]:
    samples = [(1_000.0 + 5 * step, one) for step, one in enumerate(figures)]
    found = next(one for one in chart_data(samples)["charts"] if one["name"] == chart)
    return list(found["lines"][number]["values"])


def test_a_counter_becomes_its_increase_per_second() -> None:
    assert line([{"pages": 0}, {"pages": 50}, {"pages": 55}], "pages") == [None, 10.0, 1.0]


def test_after_a_restart_a_counter_begins_at_zero() -> None:
    assert line([{"pages": 500}, {"pages": 20}], "pages") == [None, 4.0]


def test_a_missing_figure_is_a_gap() -> None:
    assert line([{"pages": 0}, {}, {"pages": 5}], "pages") == [None, None, None]
    assert line([{"freshness": 3.0}, {"freshness": None}], "freshness") == [3.0, None]


def test_other_figures_stay_as_they_are() -> None:
    assert line([{"queued_memory": 3, "queued_disk": 9}], "queue", 1) == [3]
    assert line([{"queued_memory": 3, "queued_disk": 9}], "queue", 0) == [9]


def test_without_samples_the_charts_are_empty() -> None:
    assert chart_data([])["at"] == []
    assert line([], "pages") == []


def test_the_newest_value_is_the_last_known_one() -> None:
    assert newest([1.0, 2.0, None]) == 2.0
    assert newest([None]) is None


def test_points_fit_into_the_picture() -> None:
    found = [tuple(map(float, pair.split(","))) for pair in points([0, 5, 10], [0.0, None, 8.0], 8.0).split()]
    assert [x for x, _ in found] == [0, WIDTH]
    assert all(0 <= y <= HEIGHT for _, y in found)
    assert found[0][1] > found[1][1]


def test_a_line_of_zeros_is_at_the_bottom_and_one_point_is_no_line() -> None:
    assert points([0, 5], [0.0, 0.0], 0.0).split()[0].endswith(f"{HEIGHT - 3:.1f}")
    assert points([5], [1.0], 1.0) == ""
    assert highest([{"values": [None, 3.0]}, {"values": [7.0]}]) == 7.0
    assert highest([]) == 0.0
