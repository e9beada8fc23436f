"""Computes sums that `sum_parser` has read: decimal arithmetic with 60 digits, and results below 10^1000."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from decimal import (
    ROUND_CEILING,
    ROUND_FLOOR,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    Underflow,
    localcontext,
)
from typing import NamedTuple

_PRECISION = 60  # digits
_LARGEST = 1_000  # the largest exponent of ten
_TRAPS = [DivisionByZero, InvalidOperation, Overflow, Underflow]
_CONTEXT = Context(prec=_PRECISION, Emax=_LARGEST, Emin=-_LARGEST, traps=_TRAPS)
_LARGEST_FACTORIAL = 450  # 450! is just above 10^1000
_LARGEST_ANGLE = Decimal(10) ** 12

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_DEGREE = PI / 180
CONSTANTS = {"pi": PI, "π": PI, "e": Decimal("2.71828182845904523536028747135266249775724709369995957496697")}


class NoResult(Exception):  # noqa: N818
    """The sum has no result; the message is a sentence for the reader."""


NUMBER = "number"  # the operation of a node without parts
_TOO_LARGE = "The result is too large to compute."
_UNDEFINED = "This is not defined."


class Node(NamedTuple):
    """A part of a sum: a number without parts, or an operation on its parts."""

    operation: str
    parts: tuple[Node, ...] = ()
    number: str = ""

    def uses(self, operations: frozenset[str]) -> bool:
        """Whether the sum has one of these operations."""
        return self.operation in operations or any(part.uses(operations) for part in self.parts)


def compute(node: Node) -> Decimal:
    """The value of a sum; raises `NoResult`."""
    with localcontext(_CONTEXT):
        try:
            value = _value(node)
        except DivisionByZero:
            raise NoResult("Nothing can be divided by zero.") from None
        except (Overflow, Underflow) as error:
            is_large = isinstance(error, Overflow)
            raise NoResult(_TOO_LARGE if is_large else "The result is too close to zero to compute.") from None
        except (InvalidOperation, ValueError):
            raise NoResult(_UNDEFINED) from None
    if not value.is_finite():  # the logarithm of zero
        raise NoResult(_UNDEFINED)
    return value


def _value(node: Node) -> Decimal:
    if node.operation == NUMBER:
        return +Decimal(node.number)
    if node.operation in CONSTANTS:
        return CONSTANTS[node.operation]
    if node.operation in "+-" and node.parts[1].operation == "%":  # 100 + 19%
        whole = _value(node.parts[0])
        part = whole * _value(node.parts[1])
        return whole + part if node.operation == "+" else whole - part
    values = [_value(part) for part in node.parts]
    return _OPERATIONS[node.operation](*values)


def _power(base: Decimal, exponent: Decimal) -> Decimal:
    if not base and exponent < 0:
        raise DivisionByZero
    if base and abs(exponent * Decimal(base.adjusted())) > 2 * _LARGEST:
        raise Overflow if (exponent > 0) == (base.adjusted() > 0) else Underflow
    return base**exponent


def _modulo(value: Decimal, divisor: Decimal) -> Decimal:
    """The rest has the sign of the divisor, as in mathematics."""
    if not divisor:
        raise DivisionByZero
    rest = value % divisor
    return rest + divisor if rest and (rest < 0) != (divisor < 0) else rest


def _factorial(value: Decimal) -> Decimal:
    if value < 0 or value != value.to_integral_value():
        raise InvalidOperation
    if value > _LARGEST_FACTORIAL:
        raise Overflow
    return +Decimal(math.factorial(int(value)))


def _cube_root(value: Decimal) -> Decimal:
    root = abs(value) ** (Decimal(1) / 3)
    return root.copy_sign(value)


def _tangent(angle: Decimal) -> Decimal:
    if not _by_float(math.cos)(angle):
        raise InvalidOperation
    return _by_float(math.tan)(angle)


def _by_float(function: Callable[[float], float]) -> Callable[[Decimal], Decimal]:
    """A function in binary arithmetic; a result as close to a short decimal as its error becomes that decimal."""

    def compute(value: Decimal) -> Decimal:
        if abs(value) > _LARGEST_ANGLE:
            raise Overflow
        result = Decimal(function(float(value % (2 * PI))))
        near = round(result, 14)
        return near if near == round(result, 10) else result

    return compute


def _inverse(function: Callable[[float], float]) -> Callable[[Decimal], Decimal]:
    return lambda value: Decimal(function(float(value)))


FUNCTIONS: Mapping[str, Callable[[Decimal], Decimal]] = {
    "sqrt": Decimal.sqrt,
    "cbrt": _cube_root,
    "sin": _by_float(math.sin),
    "cos": _by_float(math.cos),
    "tan": _tangent,
    "asin": _inverse(math.asin),
    "acos": _inverse(math.acos),
    "atan": _inverse(math.atan),
    "log": Decimal.log10,
    "log10": Decimal.log10,
    "log2": lambda value: value.ln() / Decimal(2).ln(),
    "ln": Decimal.ln,
    "exp": Decimal.exp,
    "abs": abs,
    "round": lambda value: value.to_integral_value(ROUND_HALF_UP),
    "floor": lambda value: value.to_integral_value(ROUND_FLOOR),
    "ceil": lambda value: value.to_integral_value(ROUND_CEILING),
}
_OPERATIONS: Mapping[str, Callable[..., Decimal]] = {
    **FUNCTIONS,
    "+": Decimal.__add__,
    "-": Decimal.__sub__,
    "*": Decimal.__mul__,
    "/": Decimal.__truediv__,
    "of": Decimal.__mul__,
    "mod": _modulo,
    "^": _power,
    "!": _factorial,
    "%": lambda value: value / 100,
    "°": lambda value: value * _DEGREE,
    "²": lambda value: _power(value, Decimal(2)),
    "³": lambda value: _power(value, Decimal(3)),
    "negative": Decimal.__neg__,
    "()": Decimal.__pos__,
}
