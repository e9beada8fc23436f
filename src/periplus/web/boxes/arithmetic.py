"""Computes sums, without `eval`: tokens, a Pratt parser, and decimal arithmetic with limits.

Every limit is small, so that the worst text takes a few milliseconds: 120 characters, 40 nested operations, 40 digits
before and after the point of a number, results below 10^1000.
"""

from __future__ import annotations

import math
import re
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

from periplus.web.boxes.numbers import number_at

LONGEST = 120  # characters of a sum
_DEEPEST = 40  # nested operations
_PRECISION = 60  # digits
_LARGEST = 1_000  # the largest exponent of ten
_TRAPS = [DivisionByZero, InvalidOperation, Overflow, Underflow]
_CONTEXT = Context(prec=_PRECISION, Emax=_LARGEST, Emin=-_LARGEST, traps=_TRAPS)
_LARGEST_FACTORIAL = 450  # 450! is just above 10^1000
_LARGEST_ANGLE = Decimal(10) ** 12

PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
_DEGREE = PI / 180
_CONSTANTS = {"pi": PI, "π": PI, "e": Decimal("2.71828182845904523536028747135266249775724709369995957496697")}


class NotASum(Exception):  # noqa: N818
    """The text is not a sum."""


class NoResult(Exception):  # noqa: N818
    """The sum has no result; the message is a sentence for the reader."""


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


# -- tokens -----------------------------------------------------------------------------------------------------------

_NUMBER = "number"
_SIGNS = str.maketrans({"×": "*", "·": "*", "∙": "*", "⋅": "*", "✕": "*", "÷": "/", "−": "-", "–": "-", "º": "°"})
_PHRASES = (
    (re.compile(r"\bdivided by\b"), "/"),
    (re.compile(r"\bto the power of\b"), "^"),
    (re.compile(r"\bsquare root of\b"), "sqrt"),
    (re.compile(r"\bcube root of\b"), "cbrt"),
    (re.compile(r"(?<=\s)x(?=\s)"), "*"),
    (re.compile(r"\*\*"), "^"),
)
_WORDS = {
    "plus": "+",
    "minus": "-",
    "times": "*",
    "modulo": "mod",
    "√": "sqrt",
    "squared": "²",
    "cubed": "³",
    "degrees": "°",
    "degree": "°",
    "deg": "°",
}
_TOKEN = re.compile(r"\s*(?:(?P<word>[a-zπ]+(?:10|2)?|√)|(?P<sign>[-+*/^()!%°²³]))")


class Token(NamedTuple):
    """A number, or the name of an operation."""

    kind: str
    number: str = ""


def tokens(text: str) -> list[Token]:
    """Splits a sum into tokens."""
    text = text.casefold().translate(_SIGNS)
    for pattern, sign in _PHRASES:
        text = pattern.sub(sign, text)
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        token, position = _token(text, position)
        found.append(token)
    return found


def _token(text: str, position: int) -> tuple[Token, int]:
    start = position + len(text[position:]) - len(text[position:].lstrip())
    number = number_at(text, start)
    if number is not None:
        return Token(_NUMBER, number[0]), number[1]
    found = _TOKEN.match(text, position)
    if found is None:
        raise NotASum
    name = found["sign"] or _WORDS.get(found["word"], found["word"])
    if found["word"] and name not in _NAMES:
        raise NotASum
    return Token(name), found.end()


# -- parser -----------------------------------------------------------------------------------------------------------

_BINARY = {"+": 10, "-": 10, "*": 20, "/": 20, "mod": 20, "of": 20, "^": 30}  # how tightly they bind
_UNARY = 25
_POSTFIX = frozenset("!%°²³")
_BARE_ARGUMENT = frozenset({"sqrt", "cbrt", "sin", "cos", "tan", "ln", "log", "log2", "log10"})  # `sqrt 16`
_TRIGONOMETRY = frozenset({"sin", "cos", "tan"})
_OPERAND = frozenset({_NUMBER, "(", *_CONSTANTS})


def parse(text: str) -> Node:
    """The sum in a text; raises `NotASum`."""
    if len(text) > LONGEST:
        raise NotASum
    parser = _Parser(tokens(text))
    node = parser.expression(0)
    if parser.next or (node.uses(frozenset("°")) and not node.uses(_TRIGONOMETRY)):
        raise NotASum
    return node


class _Parser:
    """Parses tokens by the strength of the operations."""

    def __init__(self, found: list[Token]) -> None:
        self._tokens, self._position, self._depth = found, 0, 0

    @property
    def next(self) -> str:
        """The kind of the next token, or an empty string at the end."""
        return self._tokens[self._position].kind if self._position < len(self._tokens) else ""

    def _take(self, expected: str = "") -> Token:
        if not self.next or (expected and self.next != expected):
            raise NotASum
        self._position += 1
        return self._tokens[self._position - 1]

    def expression(self, strength: int) -> Node:
        """An expression whose operations bind tighter than *strength*."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise NotASum
        left = self._operand()
        while (right := self._operation(left, strength)) is not None:
            left = right
        self._depth -= 1
        return left

    def _operation(self, left: Node, strength: int) -> Node | None:
        """The next operation on *left*; None when there is none that binds tighter."""
        name = self.next
        if name in _POSTFIX and not self._is_modulo():
            self._take()
            if name == "!" and left.operation == "!":
                raise NotASum  # a double factorial, or an exclamation
            return Node(name, (left,))
        if name == "%":
            name = "mod"
        elif name == "(" or name in {"pi", "π", "sqrt"}:
            name = "implied"
        binds = 20 if name == "implied" else _BINARY.get(name, 0)
        if binds <= strength or (name == "of" and left.operation != "%"):
            return None
        if name != "implied":
            self._take()
        right = self.expression(binds - 1 if name == "^" else binds)
        return Node("*" if name == "implied" else name, (left, right))

    def _is_modulo(self) -> bool:
        """Whether the next token is a percent sign between two numbers."""
        after = self._tokens[self._position + 1 : self._position + 2]
        return self.next == "%" and bool(after) and after[0].kind in _OPERAND

    def _operand(self) -> Node:
        token = self._take()
        if token.kind == _NUMBER:
            return Node(_NUMBER, number=token.number)
        if token.kind in _CONSTANTS:
            return Node(token.kind)
        if token.kind == "-":
            return Node("negative", (self.expression(_UNARY),))
        if token.kind == "(":
            inner = self.expression(0)
            self._take(")")
            return Node("()", (inner,))
        if token.kind in _FUNCTIONS and (self.next == "(" or token.kind in _BARE_ARGUMENT):
            argument = self._operand() if self.next == "(" else self.expression(_UNARY)
            return Node(token.kind, (argument,))
        raise NotASum


_WRITTEN = {"*": " × ", "/": " ÷ ", "^": "^"}


def written(node: Node) -> str:
    """The sum as it was understood."""
    parts = [written(part) for part in node.parts]
    if node.operation == _NUMBER:
        return node.number if "e" in node.number else f"{Decimal(node.number):,f}"
    if node.operation in _CONSTANTS:
        return "e" if node.operation == "e" else "π"
    if node.operation in _BINARY:
        return _WRITTEN.get(node.operation, f" {node.operation} ").join(parts)
    if node.operation in _POSTFIX:
        return f"{parts[0]}{node.operation}"
    if node.operation == "negative":
        return f"-{parts[0]}"
    if node.operation == "()" or node.parts[0].operation != "()":
        return f"{node.operation.strip('()')}({parts[0]})"
    return f"{node.operation}{parts[0]}"


# -- arithmetic -------------------------------------------------------------------------------------------------------


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
    if node.operation == _NUMBER:
        return +Decimal(node.number)
    if node.operation in _CONSTANTS:
        return _CONSTANTS[node.operation]
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


_FUNCTIONS: Mapping[str, Callable[[Decimal], Decimal]] = {
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
    **_FUNCTIONS,
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
_NAMES = frozenset({*_FUNCTIONS, *_CONSTANTS, "+", "-", "*", "/", "mod", "of", "²", "³", "°"})
