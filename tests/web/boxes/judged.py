"""Reads the lists of searches with the answers that a box should give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from periplus.web.boxes.box import Box, BoxMaker, Question

Row = tuple[str, str]  # a search and its answer; empty: no box


def rows(name: str) -> list[Row]:
    """The searches of a list and their answers."""
    lines = (Path(__file__).parent / name).read_text(encoding="utf-8").splitlines()
    split = (line.split("\t") for line in lines if not line.startswith("# "))
    return [(query, answer) for query, answer, *_ in split]


def made(maker: BoxMaker, query: str, *, imperial: bool = False) -> Box | None:
    """The box for a search; without an event loop, because the driver of the browser may run one in this thread."""
    making = maker.make(Question(query, imperial=imperial)).__await__()
    try:
        next(making)
    except StopIteration as done:
        found: Box | None = done.value
        return found
    raise AssertionError("the maker waits for something")


def accuracy(listed: Iterable[Row], answer: Callable[[str], str]) -> tuple[float, list[tuple[str, str, str]]]:
    """The share of right answers, and the wrong ones: search, expected, given."""
    pairs = [(query, expected, answer(query)) for query, expected in listed]
    wrong = [pair for pair in pairs if pair[1] != pair[2]]
    return 1 - len(wrong) / len(pairs), wrong
