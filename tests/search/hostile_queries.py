"""Queries that try to crash or slow down a search engine."""

from __future__ import annotations

SHAPES = {
    "nested": "(" * 10_000 + "a" + ")" * 10_000,
    "opened": "(" * 1_000_000,
    "closed": ")" * 1_000_000,
    "word": "a" * 1_000_000,
    "words": "ab " * 333_333,
    "quotes": '"' * 1_000_001,
    "minus": "-" * 1_000_000,
    "minus word": "-" * 1_000_000 + "a",
    "minus groups": "-(" * 500_000,
    "operators": "OR " * 333_333,
    "alternatives": "a OR " * 200_000,
    "sites": "site:" * 200_000,
    "site dots": "site:" + "." * 1_000_000,
    "site words": "site:a " * 140_000,
    "empty groups": "()" * 500_000,
    "empty phrases": '"" ' * 333_333,
    "spaces": " " * 1_000_000,
    "letters": ".".join("abc" * 300_000),
    "emoji": "😀" * 250_000,
    "marks": "a\u0301" * 300_000,
    "nul": "\0" * 1_000_000,
    "right to left": "\u202eabc " * 200_000,
    "surrogates": "\ud800" * 500_000,
}
