"""Reads values of command line options that several benches have."""

from __future__ import annotations


def numbers(text: str) -> list[int]:
    """The numbers in a text such as `1,2,3`, in their order."""
    return [int(part) for part in text.split(",")]
