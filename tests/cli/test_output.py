"""Output is readable for people and programs, and safe for terminals."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.cli.output import by_count, moment, print_json, print_table, printable, size

NASTY = ["\x1b[31m", "\r\n2024 forged", "\x07", "\x08", "\x9b2J", "\x85", "\u202e", "\u2028", "\x00", "\x7f", "\ud800"]


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_that_moves_a_cursor_is_printed_in_a_table(capsys: pytest.CaptureFixture[str], nasty: str) -> None:
    print_table([("a", f"b{nasty}c"), (nasty, "d")])
    out = capsys.readouterr().out
    assert out.count("\n") == 2
    assert out.replace("\n", "").isprintable()


@pytest.mark.parametrize("nasty", NASTY)
def test_nothing_that_moves_a_cursor_is_printed_as_json(capsys: pytest.CaptureFixture[str], nasty: str) -> None:
    value = {f"k{nasty}": [f"v{nasty}é日本😀"]}
    print_json(value)
    out = capsys.readouterr().out
    assert out.removesuffix("\n").isprintable()
    assert "é日本😀" in out
    assert json.loads(out) == value


@given(st.text())
def test_escaped_text_is_printable_and_printable_text_stays(text: str) -> None:
    assert printable(text).isprintable()
    if text.isprintable():
        assert printable(text) == text


def test_markup_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([("[bold]a[/bold]", "[link=http://evil.test]x[/link]")])
    assert "[bold]a[/bold]" in capsys.readouterr().out


def test_without_a_terminal_a_long_value_is_not_wrapped(capsys: pytest.CaptureFixture[str]) -> None:
    url = "http://a.test/" + "x" * 3000
    print_table([("url", url)])
    print_table([("name", url)], ("setting", "value"))
    assert capsys.readouterr().out.count(url) == 2


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_500_000, "1.5 MB"), (10**9, "1.0 GB"), (10**15, "1000.0 TB")],
)
def test_sizes_are_for_people(count: int, text: str) -> None:
    assert size(count) == text


def test_moments_are_local_and_an_unknown_one_is_a_dash() -> None:
    assert moment(86_400.0 * 365) == time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(86_400.0 * 365))
    assert moment(None) == moment(0) == "-"


def test_counts_are_listed_in_their_order() -> None:
    assert by_count({"robots": 12_345, "scope_host": 3}) == "12,345 robots, 3 scope_host"
    assert by_count({}) == "-"
