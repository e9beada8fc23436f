"""What else may a reader search for, and which pages are like a page?

Related searches are titles and headings of the pages found, so each of them finds at least one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward import ForwardIndex
from periplus.index.lexicon import Lexicon
from periplus.index.phrases import Phrases, cleaned, phrase_words
from periplus.index.vectors import DIMENSIONS, Vectors
from periplus.text.analyzer import content_terms, is_stop_word
from periplus.text.bm25 import idf

MOST_RELATED = 6
_HITS_READ = 10
_PHRASES_READ = 8  # of a hit
_SHORTEST, _LONGEST = 2, 6  # words of a related search
_LONGEST_TEXT = 60  # characters
_NEAR_QUERY = 0.35  # the least cosine of the query and a phrase that shares no word with it
_SHARED = 0.3  # score of a phrase that has a word of the query
_POSITION = 0.2  # score that the first hit gives, divided by the position
_ALIKE = 0.6  # share of words that two related searches may have in common
_COMMON = 0.5  # share of all pages; a more frequent word says nothing about a page
_FIELDS = {"title": 3.0, "headings": 2.0, "anchors": 2.0, "opening": 1.0}  # weight of a word, by field
_TINY = 1e-9  # nothing is divided by 0
F32 = NDArray[np.float32]


class _Phrase(NamedTuple):
    text: str
    words: frozenset[str]  # terms without stop words


def related_searches(
    query: Sequence[str],
    hits: Sequence[Iterable[str]],
    lexicon: Lexicon,
    phrases: Phrases,
    vectors: Vectors | None,
    language: str = "en",
) -> list[str]:
    """Phrases about the same subject as a query, best first, different from it and from each other.

    *hits*: titles, headings and anchor texts of each page found, best page first.
    """
    own = _phrase(" ".join(query), language)
    subject = _vector(own.text, lexicon, vectors)
    scores: dict[_Phrase, float] = {}
    for position, texts in enumerate(hits[:_HITS_READ], 1):
        read = (cleaned(text) for text in islice(texts, _PHRASES_READ))
        for phrase in {_phrase(text, language) for text in read if _is_short(text)}:
            near = float(subject @ _vector(phrase.text, lexicon, vectors))
            shared = bool(phrase.words & own.words)
            if phrase.words and not phrase.words <= own.words and (shared or near >= _NEAR_QUERY):
                scores[phrase] = scores.get(phrase, near + _SHARED * shared) + _POSITION / position
    ranked = sorted(scores, key=lambda phrase: (-scores[phrase], phrase.text))
    return _different(ranked, own, phrases)


def page_words(index: ForwardIndex, number: int, most: int = 12) -> list[str]:
    """The words that say most about a page, best first; a search for any of them finds pages like it."""
    weights: dict[int, float] = {}
    for field, weight in _FIELDS.items():
        words, counts = np.unique(index.words(number, field), return_counts=True)
        for word, count in zip(words.tolist(), counts.tolist(), strict=True):
            weights[word] = weights.get(word, 0.0) + weight * float(np.log1p(count))
    weights.pop(0, None)  # a break between two values
    known = np.array(list(weights), np.uint32)
    documents = dict(zip(weights, index.lexicon.documents(known).tolist(), strict=True))
    telling = [word for word in weights if 1 < documents[word] <= max(_COMMON * len(index), 2)]
    telling.sort(key=lambda word: (-weights[word] * idf(documents[word], len(index)), word))
    spelled = ((index.lexicon.word(word), index.lexicon.language(word)) for word in telling)
    return [word for word, language in spelled if not word.isdecimal() and not is_stop_word(language, word)][:most]


def page_similarities(
    index: ForwardIndex, vectors: Vectors, number: int, others: NDArray[np.integer]
) -> NDArray[np.float64]:
    """The similarity of a page and each of the *others*, by the vectors of their titles and openings; at most 1."""
    numbers = np.concatenate([[number], np.asarray(others, np.intp)])
    total = np.zeros(len(others))
    for field in ("title", "opening"):
        rows = index.read(numbers, field)
        weights = np.log(len(index) / np.maximum(index.lexicon.documents(rows.words), 1)).astype(np.float32)
        means = vectors.means(rows, weights)
        means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), _TINY)
        total += means[1:] @ means[0]
    return total / 2


def _phrase(text: str, language: str) -> _Phrase:
    """A text with its terms; numbers do not count."""
    return _Phrase(text, frozenset(term for term in content_terms(language, text) if not term.isdecimal()))


def _is_short(text: str) -> bool:
    words = phrase_words(text)
    is_text = len(text) <= _LONGEST_TEXT and any(word.isalpha() for word in words)
    return is_text and _SHORTEST <= len(words) <= _LONGEST


def _vector(text: str, lexicon: Lexicon, vectors: Vectors | None) -> F32:
    """The mean vector of a text, of length 1 or 0."""
    found = [number for word in phrase_words(text) if (number := lexicon.number(word)) is not None]
    if vectors is None or not found:
        return np.zeros(DIMENSIONS, np.float32)
    numbers = np.array(found, np.uint32)
    mean = vectors.mean(numbers, (1 / np.log(2 + lexicon.documents(numbers))).astype(np.float32))
    length: F32 = mean / max(float(np.linalg.norm(mean)), _TINY)
    return length


def _different(ranked: Sequence[_Phrase], query: _Phrase, phrases: Phrases) -> list[str]:
    """The first phrases that have few words in common with each other; *phrases* lack headings of very many pages."""
    chosen: list[_Phrase] = []
    for phrase in ranked:
        new = phrase.words - query.words
        is_new = all(len(new & (one.words - query.words)) < _ALIKE * len(new) for one in chosen)
        if is_new and phrase.text in phrases:
            chosen.append(phrase)
        if len(chosen) == MOST_RELATED:
            break
    return [phrase.text for phrase in chosen]
