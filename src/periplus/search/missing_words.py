"""Finds the words of a query that partial matches lack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence

_MOST_WORDS = 8  # that are looked up, each in one search among the shown pages


def missing_words(
    words: Iterable[str], partial: Sequence[int], having: Callable[[str], Collection[int]]
) -> dict[int, tuple[str, ...]]:
    """By page number: the words that the page lacks; *having* gives the pages that have a word."""
    if not partial:
        return {}
    lacking: dict[int, list[str]] = {number: [] for number in partial}
    for word in list(dict.fromkeys(words))[:_MOST_WORDS]:
        found = set(having(word))
        for number, lacks in lacking.items():
            if number not in found:
                lacks.append(word)
    return {number: tuple(lacks) for number, lacks in lacking.items()}
