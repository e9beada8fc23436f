"""Compares two versions of a text: paragraphs that were added, removed or changed, with the changed words marked.

The work is bounded: long texts are cut, and long paragraphs are compared as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from periplus.web.display import Piece, visible

MOST_PARAGRAPHS = 1_000  # of each text; the rest is not compared
_MOST_WORDS = 400  # of a paragraph whose words are compared
_MOST_COMPARED = 20_000  # words of all paragraphs whose words are compared
_ALIKE = 0.4  # share of equal words; below it, a paragraph was replaced
_REACH = 20  # paragraphs in which the new form of a paragraph is searched
_CONTEXT = 1  # unchanged paragraphs that are shown before and after a change
_WORD = re.compile(r"\s+|[^\W_]+|.", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """A paragraph in two versions, or a number of unchanged ones."""

    kind: str  # same, added, removed, changed, skipped
    before: tuple[Piece, ...] = ()
    after: tuple[Piece, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed between two texts."""

    rows: tuple[Row, ...]
    added: int  # paragraphs
    removed: int
    changed: int
    is_cut: bool

    @property
    def is_empty(self) -> bool:
        """Whether both texts are equal."""
        return not (self.added or self.removed or self.changed)


def difference(before: Sequence[str], after: Sequence[str]) -> Difference:
    """Compares two lists of paragraphs."""
    is_cut = max(len(before), len(after)) > MOST_PARAGRAPHS
    rows = list(_Comparison().rows(before[:MOST_PARAGRAPHS], after[:MOST_PARAGRAPHS]))
    kinds = [row.kind for row in rows]
    counts = (kinds.count("added"), kinds.count("removed"), kinds.count("changed"))
    return Difference(tuple(rows), *counts, is_cut)


class _Comparison:
    """Compares paragraphs, and counts the words that it compares."""

    def __init__(self) -> None:
        self._left = _MOST_COMPARED

    def rows(self, before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
        steps = SequenceMatcher(None, before, after).get_opcodes()
        for number, (kind, start, end, other, stop) in enumerate(steps):
            if kind == "equal":
                yield from _unchanged(before[start:end], is_first=number == 0, is_last=number == len(steps) - 1)
                continue
            for old, new in _pairs(before[start:end], after[other:stop]):
                yield from self._replaced(old, new)

    def _replaced(self, old: str | None, new: str | None) -> Iterator[Row]:
        if old is not None and new is not None and (row := self._changed(old, new)) is not None:
            yield row
            return
        if old is not None:
            yield Row("removed", before=_whole(old))
        if new is not None:
            yield Row("added", after=_whole(new))

    def _changed(self, old: str, new: str) -> Row | None:
        """The paragraph with its changed words marked; None when little of it is the same, or it is too long."""
        old_words, new_words = (_WORD.findall(text) for text in (old, new))
        longest = max(len(old_words), len(new_words))
        if longest > 2 * _MOST_WORDS or longest > self._left:
            return None
        self._left -= longest
        matcher = SequenceMatcher(None, old_words, new_words, autojunk=False)
        steps = matcher.get_opcodes()
        same = sum(len("".join(old_words[start:end])) for kind, start, end, _, _ in steps if kind == "equal")
        if 2 * same < _ALIKE * (len(old) + len(new)):
            return None
        before = [Piece(visible("".join(old_words[a:b])), kind != "equal") for kind, a, b, _, _ in steps if a < b]
        after = [Piece(visible("".join(new_words[c:d])), kind != "equal") for kind, _, _, c, d in steps if c < d]
        return Row("changed", tuple(before), tuple(after))


def _pairs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str | None, str | None]]:
    """Paragraphs that share many words, in order; the others alone."""
    words, done = [set(text.split()) for text in after], 0
    for old in before:
        own = set(old.split())
        near = range(done, min(done + _REACH, len(after)))
        match = next((place for place in near if 2 * len(own & words[place]) >= _ALIKE * len(own | words[place])), None)
        if match is None:
            yield old, None
            continue
        yield from ((None, new) for new in after[done:match])
        yield old, after[match]
        done = match + 1
    yield from ((None, new) for new in after[done:])


def _unchanged(texts: Sequence[str], *, is_first: bool, is_last: bool) -> Iterator[Row]:
    """The unchanged paragraphs next to a change, and the number of the others."""
    head = 0 if is_first else _CONTEXT
    tail = 0 if is_last else _CONTEXT
    if len(texts) <= head + tail + 1:
        head, tail = len(texts), 0
    yield from (Row("same", after=_whole(text)) for text in texts[:head])
    if skipped := len(texts) - head - tail:
        yield Row("skipped", skipped=skipped)
    yield from (Row("same", after=_whole(text)) for text in texts[len(texts) - tail :])


def _whole(text: str) -> tuple[Piece, ...]:
    return (Piece(visible(text), marked=False),)
