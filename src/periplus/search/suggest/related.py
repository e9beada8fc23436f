"""What else may a reader search for, and which pages are like a page?

Related searches are titles and headings of the pages found, so each of them finds at least one page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex, Rows
from periplus.index.forward.lexicon import Lexicon
from periplus.index.suggest.phrases import Phrases, cleaned, phrase_words
from periplus.index.vectors.word_vectors import Vectors
from periplus.text.analyzer import content_terms, is_stop_word
from periplus.text.bm25 import idf

MOST_RELATED = 6
HITS_READ = 5
_PHRASES_READ = 4  # of a hit; all of them take less than 1 ms
_SHORTEST, _LONGEST = 2, 6  # words of a related search
_LONGEST_TEXT = 60  # characters
_NEAR_QUERY = 0.35  # the least cosine of the query and a phrase that shares no word with it
_SHARED = 0.3  # score of a phrase that has a word of the query
_POSITION = 0.2  # score that the first hit gives, divided by the position
_ALIKE = 0.6  # share of words that two related searches may have in common
_COMMON = 0.5  # share of all pages; a more frequent word says nothing about a page
_FIELDS = {"title": 3.0, "headings": 2.0, "anchors": 2.0, "opening": 1.0}  # weight of a word, by field
_TINY = 1e-9  # nothing is divided by 0


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
    scores: dict[_Phrase, float] = {}  # by the positions of the hits
    for position, texts in enumerate(hits[:HITS_READ], 1):
        read = (cleaned(text) for text in islice(texts, _PHRASES_READ))
        for phrase in {_phrase(text, language) for text in read if _is_short(text)}:
            if phrase.words and not phrase.words <= own.words:
                scores[phrase] = scores.get(phrase, 0.0) + _POSITION / position
    for phrase, near in zip(list(scores), _similarities(own, list(scores), lexicon, vectors), strict=True):
        shared = bool(phrase.words & own.words)
        if shared or near >= _NEAR_QUERY:
            scores[phrase] += near + _SHARED * shared
        else:
            del scores[phrase]
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
    is_text = len(text) <= _LONGEST_TEXT and any(word.isalpha() for word in words) and not words[0].isdecimal()
    return is_text and _SHORTEST <= len(words) <= _LONGEST


def _similarities(query: _Phrase, others: Sequence[_Phrase], lexicon: Lexicon, vectors: Vectors | None) -> list[float]:
    """The cosine of the mean vectors of a query and each of the *others*, or 0; all vectors are read at once."""
    if vectors is None or not others:
        return [0.0] * len(others)
    texts = [_numbers(phrase.text, lexicon) for phrase in (query, *others)]
    words = np.array([number for text in texts for number in text], np.uint32)
    rows = Rows(words, np.cumsum([0, *map(len, texts)]))
    means = vectors.means(rows, (1 / np.log(2 + lexicon.documents(words))).astype(np.float32))
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), _TINY)
    cosines: list[float] = (means[1:] @ means[0]).tolist()
    return cosines


def _numbers(text: str, lexicon: Lexicon) -> list[int]:
    """The numbers of the known words of a text."""
    return [number for word in phrase_words(text) if (number := lexicon.number(word)) is not None]


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
