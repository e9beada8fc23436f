"""Sums are read with the usual rules, and computed exactly."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.boxes.arithmetic import NoResult, compute
from periplus.web.boxes.sum_parser import NotASum, parse, written


def value(text: str) -> Decimal:
    return compute(parse(text))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("2+3*4", 14),
        ("2*3+4", 10),
        ("10-4-3", 3),
        ("100/10/2", 5),
        ("2^3^2", 512),
        ("-2^2", -4),
        ("2^-2", Decimal("0.25")),
        ("3!^2", 36),
        ("-3!", -6),
        ("2 * 5²", 50),
        ("sqrt 16 * 2", 8),
        ("sqrt(16)^2", 16),
        ("10 mod 4 * 2", 4),
        ("100 + 10% + 10%", 121),
        ("10% of 50 + 1", 6),
        ("-7 mod 3", 2),
        ("7 mod -3", -2),
        ("0.1 + 0.2", Decimal("0.3")),
        ("round(2.5)", 3),
        ("cbrt(-27)", -3),
    ],
)
def test_operations_have_the_usual_order(text: str, result: Decimal | int) -> None:
    assert abs(value(text) - result) < Decimal("1e-20")


def test_the_largest_factorial_and_power_are_computed_and_the_next_refused() -> None:
    assert value("449!").adjusted() == 997
    with pytest.raises(NoResult, match="large"):
        value("451!")
    assert value("10^999").adjusted() == 999
    with pytest.raises(NoResult, match="large"):
        value("10^1001")
    with pytest.raises(NoResult, match="large"):
        value("10^99999999")
    with pytest.raises(NoResult, match="large"):
        value("sin(10^13)")


@given(st.text(alphabet="0123456789.,+-*/^()!%° sqrtinpe", max_size=30))
def test_any_text_is_computed_or_refused(text: str) -> None:
    try:
        node = parse(text)
    except NotASum:
        return
    try:
        first = compute(node)
    except NoResult:
        return
    assert first.is_finite()
    again = written(node).replace(" × ", "*").replace(" ÷ ", "/")
    assert compute(parse(again)) == first, "it was shown as it was understood"


_NUMBERS = st.integers(1, 999)


@given(st.lists(st.tuples(st.sampled_from("+-*/"), _NUMBERS), max_size=6), _NUMBERS)
def test_results_are_those_of_exact_fractions(steps: list[tuple[str, int]], first: int) -> None:
    text = "".join([str(first), *(f" {sign} {number}" for sign, number in steps)])
    total, product, sign = Fraction(0), Fraction(first), 1
    for operation, number in steps:
        if operation in "+-":
            total, product, sign = total + sign * product, Fraction(number), 1 if operation == "+" else -1
        else:
            product = product * number if operation == "*" else product / number
    total += sign * product
    assert abs(Fraction(value(text)) - total) <= abs(total) * Fraction(1, 10**40) + Fraction(1, 10**50)
