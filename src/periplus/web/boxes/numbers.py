"""Reads numbers as people type them, and shows results.

Both the point and the comma may be the decimal mark. A comma before exactly three digits separates thousands, so
`1,000` is one thousand, and `3,5` is three and a half.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal

_WHOLE_DIGITS = 36  # integers with at most so many digits are shown in full,
_ROUND_DIGITS = 12  # except a long one with so few significant digits, such as 3 × 10^23
_NOISE_DIGITS = 45  # rounding errors of the calculator come after these
_EXACT_DIGITS = 21  # fractions with at most so many significant digits are shown in full
_SMALLEST = -7  # powers of ten that are shown without an exponent
_LARGEST = 15

_NUMBER = re.compile(  # at most 40 digits before and after the decimal mark
    r"""(?:
      [1-9][0-9]{0,2}(?P<mark>[,_'\u2019\ \u00a0\u202f\u2009])[0-9]{3}(?:(?P=mark)[0-9]{3}){0,12}(?:\.[0-9]{1,40})?
    | [1-9][0-9]{0,2}(?:\.[0-9]{3}){1,12},[0-9]{1,40}
    | (?:(?:0|[1-9][0-9]{0,39})(?:[.,][0-9]{1,40})?|\.[0-9]{1,40})(?:e[+-]?[0-9]{1,6})?
    )(?![.,]?[0-9])""",
    re.VERBOSE | re.ASCII,
)
_MARKS = re.compile(r"[,_'\u2019\s]")


def number_at(text: str, position: int) -> tuple[str, int] | None:
    """The number that begins at a position of a lower-case text, as Python writes numbers, and its end."""
    found = _NUMBER.match(text, position)
    if found is None:
        return None
    written = found[0]
    if found["mark"]:
        written = _MARKS.sub("", written)
    elif "." in written and "," in written:  # such as 1.000,5
        written = written.replace(".", "").replace(",", ".")
    else:
        written = written.replace(",", ".")
    return written, found.end()


def shown(value: Decimal, digits: int = 12, exact_digits: int = _EXACT_DIGITS) -> tuple[str, bool]:
    """A number for people, with thousands separators, and whether it is exact.

    *digits*: significant digits of a rounded number. A fraction of at most *exact_digits* is not rounded.
    """
    value = _rounded(value, _NOISE_DIGITS)
    size, significant = value.adjusted(), len(value.as_tuple().digits)
    is_whole = value == value.to_integral_value()
    if is_whole and (size < _EXACT_DIGITS or (size < _WHOLE_DIGITS and significant > _ROUND_DIGITS)):
        return f"{int(value):,}", True
    if significant <= exact_digits and _SMALLEST <= size < _EXACT_DIGITS:
        return f"{value:,f}", True
    is_plain = _SMALLEST <= size < _LARGEST
    near = _rounded(value, max(digits, size + 1) if is_plain else digits)
    if is_plain:
        return f"{near:,f}", near == value
    return f"{near.scaleb(-size):f} × 10^{size}", near == value


def _rounded(value: Decimal, digits: int) -> Decimal:
    return value.normalize(Context(prec=digits, rounding=ROUND_HALF_EVEN))
