"""Reads sums, without `eval`: tokens, and a parser that follows the strength of the operations (Pratt).

The limits are small, so that the worst text takes a few milliseconds: 120 characters, 40 nested operations, and 40
digits before and after the point of a number.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from periplus.web.boxes.arithmetic import CONSTANTS, FUNCTIONS, NUMBER, Node
from periplus.web.boxes.numbers import number_at

LONGEST = 120  # characters of a sum
_DEEPEST = 40  # nested operations


class NotASum(Exception):  # noqa: N818
    """The text is not a sum."""


# -- tokens -----------------------------------------------------------------------------------------------------------

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
_NAMES = frozenset({*FUNCTIONS, *CONSTANTS, "+", "-", "*", "/", "mod", "of", "²", "³", "°"})
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
        return Token(NUMBER, number[0]), number[1]
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
_OPERAND = frozenset({NUMBER, "(", *CONSTANTS})


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
        if token.kind == NUMBER:
            return Node(NUMBER, number=token.number)
        if token.kind in CONSTANTS:
            return Node(token.kind)
        if token.kind == "-":
            return Node("negative", (self.expression(_UNARY),))
        if token.kind == "(":
            inner = self.expression(0)
            self._take(")")
            return Node("()", (inner,))
        if token.kind in FUNCTIONS and (self.next == "(" or token.kind in _BARE_ARGUMENT):
            argument = self._operand() if self.next == "(" else self.expression(_UNARY)
            return Node(token.kind, (argument,))
        raise NotASum


_WRITTEN = {"*": " × ", "/": " ÷ ", "^": "^"}


def written(node: Node) -> str:
    """The sum as it was understood."""
    parts = [written(part) for part in node.parts]
    if node.operation == NUMBER:
        return node.number if "e" in node.number else f"{Decimal(node.number):,f}"
    if node.operation in CONSTANTS:
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
