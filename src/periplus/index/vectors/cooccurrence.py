"""How often do terms occur near each other, and how much more often than by chance?

A *term* is a group of words with the same stem. Stop words, numbers and rare words have no term.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex, Rows
from periplus.index.forward.lexicon import Lexicon
from periplus.text.analyzer import content_terms

NO_TERM = 0xFFFF
MOST_TERMS = 60_000  # must be less than NO_TERM; two terms fit in 32 bits
_CONSIDERED = 500_000  # words, most frequent first
_LEAST_DOCUMENTS = 5  # with a term
_MOST_COMMON = 0.5  # share of all documents; more frequent terms say nothing
_FIELDS = ("title", "headings", "description", "body")
_WINDOW = 5  # terms on either side
_BODY = 1_000  # words of a body, about 6,000 characters
_MOST_WORDS = 12_000_000  # counted in all
_DOCUMENTS_AT_ONCE = 2_000
_PENDING = 4_000_000  # pairs that are counted, but not yet merged
_MOST_PAIRS = 8_000_000  # stored in all; above this, pairs that occur once are dropped
_SMOOTHING = 0.75  # exponent of the frequency of contexts: rare contexts count less
_COUNT_BITS = np.uint64(32)
U16 = NDArray[np.uint16]
U32 = NDArray[np.uint32]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]


class Terms(NamedTuple):
    """The terms that get a vector."""

    of_words: U16  # the term of every word, or NO_TERM
    words: U32  # the most frequent word of every term


class Matrix(NamedTuple):
    """A sparse matrix by rows (CSR)."""

    starts: NDArray[np.int64]
    columns: U16
    values: F32


def choose_terms(lexicon: Lexicon, documents: int) -> Terms:
    """Group the most frequent words by language and stem."""
    size = min(len(lexicon), _CONSIDERED)
    frequencies = lexicon.documents(np.arange(size, dtype=np.uint32)).tolist()
    groups: dict[tuple[str, str], list[int]] = {}
    for number in range(1, size):
        word = lexicon.word(number)
        if word.isdecimal() or frequencies[number] > _MOST_COMMON * documents:
            continue
        language = lexicon.language(number)
        if stem := " ".join(content_terms(language, word)):
            groups.setdefault((language, stem), []).append(number)
    frequent = [group for group in groups.values() if sum(frequencies[n] for n in group) >= _LEAST_DOCUMENTS]
    frequent.sort(key=lambda group: -sum(frequencies[number] for number in group))  # stable, so deterministic
    of_words = np.full(len(lexicon), NO_TERM, np.uint16)
    for term, group in enumerate(frequent[:MOST_TERMS]):
        of_words[group] = term
    return Terms(of_words, np.array([group[0] for group in frequent[:MOST_TERMS]], np.uint32))


def count_pairs(index: ForwardIndex, ranks: F32, of_words: U16) -> tuple[U32, U32]:
    """Count pairs of terms near each other; returns each pair as smaller term << 16 | larger term, and its count."""
    held, pending = np.empty(0, np.uint64), list[U64]()
    for numbers in _batches(index, ranks):
        pairs = np.concatenate([_pairs(index.read(numbers, field), of_words) for field in _FIELDS])
        pending.append(_counted(pairs))
        if sum(map(len, pending)) > _PENDING:
            held, pending = _merged([held, *pending]), []
    held = _merged([held, *pending])
    return (held >> _COUNT_BITS).astype(np.uint32), held.astype(np.uint32)


def positive_pmi(pairs: U32, counts: U32, terms_in_all: int) -> tuple[Matrix, Matrix]:
    """The positive pointwise mutual information of terms and contexts, and the transposed matrix."""
    ordered = np.concatenate([pairs, pairs << np.uint32(16) | pairs >> np.uint32(16)], dtype=np.uint64)
    ordered <<= _COUNT_BITS
    ordered.reshape(2, -1)[:] |= counts
    ordered.sort()
    rows, columns = (ordered >> np.uint64(48)).astype(np.uint16), (ordered >> _COUNT_BITS).astype(np.uint16)
    often = np.log(ordered.astype(np.uint32), dtype=np.float32)
    del ordered
    totals = np.bincount(rows, np.exp(often), terms_in_all)
    smoothed = _SMOOTHING * np.log(np.maximum(totals, 1.0)) - np.log((totals**_SMOOTHING).sum() or 1.0)
    as_term, as_context = np.log(np.maximum(totals, 1.0)).astype(np.float32), smoothed.astype(np.float32)
    return (
        _positive(rows, columns, often - as_term[rows] - as_context[columns], terms_in_all),
        _positive(rows, columns, often - as_context[rows] - as_term[columns], terms_in_all),
    )


def _positive(rows: U16, columns: U16, values: F32, terms_in_all: int) -> Matrix:
    kept = values > 0
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows[kept], minlength=terms_in_all))])
    return Matrix(starts, columns[kept], values[kept])


def _batches(index: ForwardIndex, ranks: F32) -> Iterator[NDArray[np.intp]]:
    """The document numbers to count, best rank first when there are too many words, in ascending order."""
    best = np.argsort(-ranks, kind="stable")
    sizes = np.minimum(index.lengths(best, "body"), _BODY)
    chosen = np.sort(best[np.cumsum(sizes) <= _MOST_WORDS])
    for start in range(0, len(chosen), _DOCUMENTS_AT_ONCE):
        yield chosen[start : start + _DOCUMENTS_AT_ONCE]


def _pairs(rows: Rows, of_words: U16) -> U32:
    """All pairs of terms within the window, in one value of a field."""
    words, starts = rows
    sizes = np.diff(starts)
    document = np.repeat(np.arange(len(sizes)), sizes)
    found = of_words[words]
    near = (found != NO_TERM) & (np.arange(len(words)) - np.repeat(starts[:-1], sizes) < _BODY)
    place = (document + np.cumsum(words == 0))[near]  # differs between documents and between values
    term = found[near].astype(np.uint32)
    pairs = []
    for distance in range(1, _WINDOW + 1):
        one, other = term[:-distance], term[distance:]
        same = (place[:-distance] == place[distance:]) & (one != other)
        one, other = one[same], other[same]
        pairs.append(np.minimum(one, other) << np.uint32(16) | np.maximum(one, other))
    return np.concatenate(pairs)


def _counted(pairs: U32) -> U64:
    """Every distinct pair << 32 | its count."""
    found, counts = np.unique(pairs, return_counts=True)
    return found.astype(np.uint64) << _COUNT_BITS | counts.astype(np.uint64)


def _merged(parts: list[U64]) -> U64:
    """Add the counts of equal pairs."""
    counted = np.sort(np.concatenate(parts))
    pairs = counted >> _COUNT_BITS
    firsts = np.flatnonzero(np.concatenate([[True], pairs[1:] != pairs[:-1]])) if len(pairs) else np.empty(0, np.intp)
    if not len(firsts):
        return counted
    counts = np.add.reduceat(counted & np.uint64(0xFFFFFFFF), firsts)
    merged: U64 = pairs[firsts] << _COUNT_BITS | counts
    return merged[counts > 1] if len(merged) > _MOST_PAIRS else merged
