"""Finds the part of each page that says most about a query, in the forward index and without its text.

A window of words counts by the weights of the distinct query words in it, and more when it is prose. Prose has many
frequent words; menus and code have few. The lexicon numbers words by frequency, so small numbers are frequent words.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import U32, ForwardIndex
from periplus.search.snippets.word_forms import WordForms

Places = NDArray[np.intp]
Numbers = NDArray[np.float64]

_WORDS = 30  # in a window
_FREQUENT = 150  # words with smaller numbers are frequent
_PROSE = 0.4  # share of frequent words; more of them make no difference
_SEPARATOR = 1.2  # mean number of bytes between two words: spaces and punctuation


class Window(NamedTuple):
    """The best window of a page."""

    offset: int  # estimated, in bytes of the text in UTF-8
    weight: float  # of the distinct query words in it; 0: the page has none of them


def best_windows(numbers: Sequence[int], forms: WordForms, index: ForwardIndex) -> list[Window]:
    """The best window of every page, all at once: numpy takes as long for one page as for ten."""
    body = index.read(np.array(numbers, np.intp), "body")
    term_of = np.zeros(len(index.lexicon), np.uint8)
    for kind, found in enumerate(forms.numbers.values(), 1):
        term_of[found] = kind
    kinds = term_of.take(body.words)
    places = np.flatnonzero(kinds != 0)
    ends = body.starts[np.searchsorted(body.starts, places, "right")]
    weights = _weights(places, kinds[places], np.minimum(places + _WORDS, ends), [*forms.weights.values()])
    scores = weights * (0.5 + _prose(body.words, places))
    firsts = np.searchsorted(places, body.starts).tolist()
    return [
        _window(body.words[start : places[best]], weights[best], index) if best is not None else Window(0, 0.0)
        for start, best in zip(body.starts.tolist(), map(partial(_best, scores), firsts, firsts[1:]), strict=False)
    ]


def _best(scores: Numbers, first: int, last: int) -> int | None:
    return first + int(scores[first:last].argmax()) if first < last else None


def _window(before: U32, weight: float, index: ForwardIndex) -> Window:
    """The window behind these words."""
    return Window(int(index.lexicon.sizes(before).sum() + _SEPARATOR * len(before)), float(weight))


def _weights(places: Places, kinds: NDArray[np.uint8], ends: Places, weights: Sequence[float]) -> Numbers:
    """The weight of the distinct terms from each place to its end."""
    total = np.zeros(len(places))
    for kind in range(1, int(kinds.max(initial=0)) + 1):
        own = np.append(places[kinds == kind], np.iinfo(np.intp).max)
        total += weights[kind - 1] * (own[np.searchsorted(own, places)] < ends)
    return total


def _prose(words: U32, places: Places) -> Numbers:
    """The share of frequent words in each window, at most `_PROSE`."""
    frequent = np.append(0, np.cumsum(words < _FREQUENT, dtype=np.int32))
    last = np.minimum(places + _WORDS, len(words))
    shares: Numbers = (frequent[last] - frequent[places]) / _WORDS
    return np.minimum(shares, _PROSE)
