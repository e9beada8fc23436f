"""Numbers, sizes and durations are short and have their units."""

from __future__ import annotations

import pytest

from periplus.console import display


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (0, "0"), (12_345, "12,345"), (1.5, "1.5"), (99.96, "100.0"), (1_234.5, "1,234")]
)
def test_numbers(value: float | None, text: str) -> None:
    assert display.number(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (999, "999 B"), (1_500, "1.5 kB"), (81e9, "81.0 GB"), (2.5e15, "2500.0 TB")]
)
def test_sizes(value: float | None, text: str) -> None:
    assert display.size(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (0.25, "0.2 s"),
        (75, "75 s"),
        (150, "2.5 min"),
        (3_600, "60 min"),
        (90_000, "25 h"),
        (9e7, "1,042 d"),
    ],
)
def test_durations(value: float | None, text: str) -> None:
    assert display.duration(value) == text


@pytest.mark.parametrize(("at", "text"), [(None, "–"), (0, "–"), (100, "now"), (40, "60 s ago"), (105.4, "in 5.0 s")])
def test_how_long_ago(at: float | None, text: str) -> None:
    assert display.ago(at, 100.4) == text


def test_times_are_in_utc() -> None:
    assert display.clock(1_700_000_000) == "14 Nov 2023, 22:13:20 UTC"
    assert display.clock(None) == "–"


def test_links_leave_out_what_is_empty() -> None:
    assert display.link("hosts", order="name", only="", after=None) == "/console/hosts?order=name"
    assert display.link("hosts") == "/console/hosts"
    assert display.link("url", url="https://a.example/?b&c") == "/console/url?url=https%3A%2F%2Fa.example%2F%3Fb%26c"


def test_values_of_settings_fit_in_a_line() -> None:
    assert display.shown(["a", "b"]) == "a, b"
    assert display.shown({"x.org": 5}) == "x.org = 5"
    assert display.shown("a\u202eb\n") == "ab "


def test_code_is_marked_and_everything_is_escaped() -> None:
    assert display.coded("Set `a<b` & run.") == "Set <code>a&lt;b</code> &amp; run."


def test_plurals() -> None:
    assert display.plural(1, "URL") == "1 URL"
    assert display.plural(2_000, "URL") == "2,000 URLs"
    assert display.plural(2, "of them was", "of them were") == "2 of them were"
