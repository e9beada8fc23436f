"""How may the query go on? Completes what a reader has typed so far from titles, headings, anchor texts and words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.forward.lexicon import Lexicon
from periplus.index.suggest.phrases import Phrases, phrase_words

_WORD = "word"  # the source of a single word of the vocabulary
_AT_START = 2.0  # weight of a phrase that begins with the typed text
_LONGEST_PREFIX = 100  # characters
_COMPARED = 400  # phrases that are read to find those with all typed words, best first; about 3 ms


class Suggestion(NamedTuple):
    """A text that a reader may be typing."""

    text: str  # with the capitals of the page
    source: str  # title, heading, anchor or word; query for a query of readers
    weight: float


class Completer:
    """Completes queries; safe to share between threads."""

    def __init__(self, phrases: Phrases, lexicon: Lexicon) -> None:
        self._phrases, self._lexicon = phrases, lexicon

    @classmethod
    def open(cls, generation: Path) -> Completer:
        """Open the files of a generation; one of an earlier release completes words only."""
        return cls(Phrases(generation), ForwardIndex(generation).lexicon)

    def complete(self, prefix: str, most: int = 8) -> list[Suggestion]:
        """The best continuations of *prefix*, different from each other and from *prefix*.

        First phrases that have the typed text at the beginning of a word, then phrases that have all typed words in
        any order, then single words. Capitals, accents and punctuation do not count.
        """
        words = phrase_words(prefix[:_LONGEST_PREFIX])
        if not words or most < 1:
            return []
        key = " ".join(words) + (" " if prefix[:_LONGEST_PREFIX][-1].isspace() else "")
        found: dict[str, Suggestion] = {}
        for suggestion in self._suggestions(key, words):
            own = " ".join(phrase_words(suggestion.text))
            if own != key.strip():
                found.setdefault(own, suggestion)
            if len(found) == most:
                break
        return list(found.values())

    def _suggestions(self, key: str, words: Sequence[str]) -> Iterator[Suggestion]:
        yield from map(self._suggestion, *self._ranked(key))
        if len(words) > 1 and not key.endswith(" "):
            yield from self._in_any_order(words)
        if len(words) == 1 and not key.endswith(" "):
            yield from self._single_words(words[0])

    def _ranked(self, key: str) -> tuple[list[int], list[float]]:
        """The phrases in which a text begins a word, best first, and their weights."""
        numbers, places = self._phrases.beginning(key)
        weights = self._phrases.weights[numbers] + _AT_START * (places == 0)
        best = _best(weights, _COMPARED)
        return numbers[best].tolist(), weights[best].tolist()

    def _suggestion(self, number: int, weight: float) -> Suggestion:
        return Suggestion(self._phrases.text(number), self._phrases.source(number).name.lower(), weight)

    def _in_any_order(self, words: Sequence[str]) -> Iterator[Suggestion]:
        """Phrases that have a word beginning with the last one, and all others."""
        wanted = set(words[:-1])
        for suggestion in map(self._suggestion, *self._ranked(words[-1])):
            if wanted <= set(phrase_words(suggestion.text)):
                yield suggestion

    def _single_words(self, beginning: str) -> Iterator[Suggestion]:
        numbers = self._lexicon.completions(beginning)
        counts = self._lexicon.vocabulary_counts(numbers)
        for place in islice(_best(counts, _COMPARED).tolist(), _COMPARED):
            yield Suggestion(self._lexicon.word(int(numbers[place])), _WORD, float(np.log1p(counts[place])))


def _best(weights: NDArray[np.generic], most: int) -> NDArray[np.intp]:
    """The places of the largest weights, largest first; equal ones in their order."""
    if len(weights) > most:
        chosen = np.sort(np.argpartition(-weights.astype(np.float64), most)[:most])
    else:
        chosen = np.arange(len(weights))
    order: NDArray[np.intp] = chosen[np.argsort(-weights[chosen].astype(np.float64), kind="stable")]
    return order
