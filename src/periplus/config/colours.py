"""Computes the contrast of colours, and a similar colour that is readable on a background (WCAG 2.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence

LIGHT_GROUNDS = ("#fbfaf6", "#ffffff")  # the page and raised parts of it, as in style.css
DARK_GROUNDS = ("#0e1822", "#16232f")  # as in dark.css
LOWEST = 4.5  # contrast of text, level AA
_HEX = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6})")
_STEPS = 50
Rgb = tuple[int, int, int]


def hex_colour(text: str) -> str:
    """A colour in lower case; raises `ValueError` for any other text."""
    found = text.lower()
    if not _HEX.fullmatch(found):
        raise ValueError("must have the form #rrggbb, for example #1a6f78")
    return found


def contrast(one: str, other: str) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(_rgb(one)), _luminance(_rgb(other))))
    return (lighter + 0.05) / (darker + 0.05)


def lowest_contrast(colour: str, grounds: Sequence[str]) -> float:
    """The contrast with the background on which the colour is hardest to read."""
    return min(contrast(colour, ground) for ground in grounds)


def readable(colour: str, grounds: Sequence[str]) -> str:
    """The colour, or the nearest mix of it with black or white that is readable on all backgrounds."""
    target = (0, 0, 0) if grounds == LIGHT_GROUNDS else (255, 255, 255)
    mixes = (_mixed(_rgb(colour), target, step / _STEPS) for step in range(_STEPS + 1))
    return next(mix for mix in mixes if lowest_contrast(mix, grounds) >= LOWEST)


def text_on(colour: str) -> str:
    """Black or white, whichever is easier to read on the colour; its contrast is at least 4.5."""
    return max(("#ffffff", "#000000"), key=lambda text: contrast(text, colour))


def _rgb(colour: str) -> Rgb:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)


def _luminance(rgb: Rgb) -> float:
    red, green, blue = (part / 255 / 12.92 if part <= 10 else ((part / 255 + 0.055) / 1.055) ** 2.4 for part in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _mixed(one: Rgb, other: Rgb, share: float) -> str:
    """The colour with a share of the other one."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"
