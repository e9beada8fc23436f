"""Numbers are read as people type them, and shown as people read them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.boxes.numbers import number_at, shown


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("1,000", "1000"),
        ("3,5", "3.5"),
        ("0,125", "0.125"),
        ("1.000", "1.000"),
        ("1.000,5", "1000.5"),
        ("1,000.5", "1000.5"),
        ("12 345 678", "12345678"),
        ("1'000", "1000"),
        ("1_000", "1000"),
        (".5", ".5"),
        ("1.5e-3", "1.5e-3"),
    ],
)
def test_point_and_comma_are_understood(typed: str, read: str) -> None:
    assert number_at(typed, 0) == (read, len(typed))


@pytest.mark.parametrize("typed", ["007", "030", "1.2.3", "192.168.0.1", "٢", "²", "1,2,3", "9" * 41, "", "-1"])
def test_other_things_are_no_numbers(typed: str) -> None:
    assert number_at(typed, 0) is None


@pytest.mark.parametrize(
    ("value", "text", "is_exact"),
    [
        ("0", "0", True),
        ("-0", "0", True),
        ("1234567.5", "1,234,567.5", True),
        ("0.3", "0.3", True),
        ("-1000", "-1,000", True),
        ("0.0000001", "0.0000001", True),
        ("0.00000001", "1 × 10^-8", True),
        ("142.857142857142857142857142857142857142857142857142", "142.857142857", False),
        ("333333333333333.333333333333333333333333333333333333", "333,333,333,333,333", False),
        ("1e30", "1 × 10^30", True),
        ("18446744073709551616", "18,446,744,073,709,551,616", True),
        ("1267650600228229401496703205376", "1,267,650,600,228,229,401,496,703,205,376", True),
        ("0.99999999999999999999999999999999999999999999999999999", "1", True),
    ],
)
def test_results_have_sensible_digits(value: str, text: str, is_exact: bool) -> None:
    assert shown(Decimal(value)) == (text, is_exact)


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**14), max_value=10**14, places=6))
def test_a_shown_number_is_near_its_value(value: Decimal) -> None:
    text, is_exact = shown(value)
    if "^" in text:
        mantissa, _, power = text.partition(" × 10^")
        read = Decimal(mantissa).scaleb(int(power))
    else:
        read = Decimal(text.replace(",", ""))
    assert abs(read - value) <= abs(value) * Decimal("1e-11")
    assert not is_exact or read == value
