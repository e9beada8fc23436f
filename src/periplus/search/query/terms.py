"""The words of a query as numbers of the lexicon, with their weights.

A word has the numbers of all words with the same stem, in every language of the query. In scripts without spaces, a
term is two or more characters side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex, Rows, WordCodes
from periplus.text.analyzer import OTHER, is_stop_word, terms
from periplus.text.bm25 import idf
from periplus.text.code_tokens import code_tokens
from periplus.text.unspaced import blanked, pieces
from periplus.text.words import split

MOST_TERMS = 40  # of one query that are scored
U32 = NDArray[np.uint32]
Places = NDArray[np.intp]
Booleans = NDArray[np.bool_]


class Term(NamedTuple):
    """A word of the query, or neighbouring characters of a script without spaces."""

    text: str  # in lower case
    parts: tuple[U32, ...]  # the word numbers of each part; a word has one part, with all words of the same stem


class Hits(NamedTuple):
    """Where the terms of a query occur in one field of several documents, in order."""

    starts: Places  # of every document among the words, and the end
    document: Places  # its place among the documents
    term: Places
    at: Places  # the place in `rows.words`
    counts: NDArray[np.int64]  # by document and term

    def only(self, chosen: Booleans) -> Hits:
        """The chosen ones of these hits."""
        document, term = self.document[chosen], self.term[chosen]
        counts = np.zeros_like(self.counts)
        np.add.at(counts, (document, term), 1)
        return Hits(self.starts, document, term, self.at[chosen], counts)


class QueryTerms:
    """The distinct terms of a query, as they are looked up in the forward index."""

    def __init__(
        self,
        texts: Iterable[str],
        forward: ForwardIndex,
        languages: Sequence[str],
        variants: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        """*texts*: the words and phrases to find; *languages*: those of the pages, as `language_of` names them.

        *variants*: other spellings of words that count as these words.
        """
        self._forward = forward
        self._variants = {word.lower(): forms for word, forms in (variants or {}).items()}
        texts = list(texts)
        words = Counter(word for text in texts for word in (*split(blanked(text)), *pieces(text)))
        counts = self._counted(_content(words, languages), languages)[:MOST_TERMS]
        self.terms = [term for term, _ in counts]
        self.counts = np.array([count for _, count in counts])  # how often each term is in the query
        bare = _bare_words(texts)
        self.is_bare = np.array([term.text in bare for term in self.terms], bool)
        self.names = [frozenset((term.text, *terms(OTHER, term.text))) for term in self.terms]
        self.idf = np.array([self._idf(term) for term in self.terms])
        self.weights = self.idf * self.counts
        self._codes = self._numbered_parts()

    def __len__(self) -> int:
        return len(self.terms)

    def _counted(self, words: Mapping[str, int], languages: Sequence[str]) -> list[tuple[Term, int]]:
        """The terms of the words, with their counts; words with the same stem are one term."""
        terms, counts = list[Term](), list[int]()
        known: dict[int, int] = {}  # the place of a term, by word number
        for word, count in words.items():
            term = Term(word, self._parts(word, languages))
            numbers = set(term.parts[0].tolist()) if len(term.parts) == 1 else set()
            if numbers and numbers <= known.keys():
                counts[known[min(numbers)]] += count
                continue
            known |= dict.fromkeys(numbers - known.keys(), len(terms))
            terms.append(term)
            counts.append(count)
        return list(zip(terms, counts, strict=True))

    def _parts(self, word: str, languages: Sequence[str]) -> tuple[U32, ...]:
        parts = split(word)
        if len(parts) != 1:  # characters of a script without spaces
            return tuple(self._forward.ids_of(part, OTHER) for part in parts)
        forms = (word, *self._variants.get(word, ()))
        stems = {(term, language) for form in forms for language in languages for term in terms(language, form)}
        numbers = [self._forward.ids_of(term, language) for term, language in stems]
        return (np.unique(np.concatenate(numbers)) if numbers else np.empty(0, np.uint32),)

    def _idf(self, term: Term) -> float:
        frequency = min(self._forward.df(part) for part in term.parts) if term.parts else 0.0
        return float(idf(frequency, len(self._forward))) if frequency else 0.0

    def _numbered_parts(self) -> WordCodes:
        """The number of the part of the query that a word is."""
        codes = WordCodes(len(self._forward.lexicon))
        self._numbers: list[tuple[int, ...]] = []  # of the parts of every term
        number = 0
        for term in self.terms:
            numbers = []
            for part in term.parts:
                known = int(codes.by_word[part[0]]) if len(term.parts) > 1 and len(part) else 0
                if not known:
                    number += 1
                    codes.add(part, number)
                numbers.append(known or number)
            self._numbers.append(tuple(numbers))
        return codes

    def find(self, documents: NDArray[np.integer], field: str) -> Hits:
        """Where the terms occur in a field of documents."""
        if self._has_neighbours:
            return self.hits(self._forward.read(documents, field))
        found = self._forward.find(documents, field, self._codes)
        return self._hits(found.starts, found.at, found.codes.astype(np.intp) - 1)

    def hits(self, rows: Rows) -> Hits:
        """Where the terms occur in a field that was read."""
        codes = self._codes.by_word.take(rows.words)
        at = np.flatnonzero(codes != 0)
        term = codes[at].astype(np.intp) - 1
        if self._has_neighbours:
            at, term = self._with_neighbours(codes, at)
        return self._hits(rows.starts, at, term)

    @property
    def _has_neighbours(self) -> bool:
        """Whether a term has several parts."""
        return any(len(numbers) != 1 for numbers in self._numbers)

    def _hits(self, starts: Places, at: Places, term: Places) -> Hits:
        size = len(starts) - 1
        document = np.repeat(np.arange(size), np.diff(np.searchsorted(at, starts)))
        counts = np.bincount(document * len(self) + term, minlength=size * len(self)).reshape(size, len(self))
        return Hits(starts, document, term, at, counts)

    def _with_neighbours(self, codes: NDArray[np.uint8], at: Places) -> tuple[Places, Places]:
        """The places and terms where all parts of a term follow each other."""
        padded = np.concatenate([codes, np.zeros(max(map(len, self._numbers)), np.uint8)])
        found = []
        for numbers in self._numbers:
            places = at[codes[at] == numbers[0]] if numbers else at[:0]
            for offset, number in enumerate(numbers[1:], 1):
                places = places[padded[places + offset] == number]
            found.append(places)
        term = np.repeat(np.arange(len(found)), [len(places) for places in found])
        order = np.argsort(np.concatenate(found), kind="stable")
        return np.concatenate(found)[order], term[order]

    def joined(self) -> dict[int, tuple[int, int]]:
        """Words that are two neighbouring terms written together (*node js*: nodejs), and these terms."""
        found = {}
        for first, second in pairwise(range(len(self))):
            number = self._forward.lexicon.number(self.terms[first].text + self.terms[second].text)
            if number is not None:
                found[number] = (first, second)
        return found


def _content(words: Mapping[str, int], languages: Sequence[str]) -> Mapping[str, int]:
    """The words without those that are stop words in all languages ("m" of "I'm"); all when there is nothing else."""
    kept = {
        word: count for word, count in words.items() if not all(is_stop_word(language, word) for language in languages)
    }
    return kept or words


def _bare_words(texts: Iterable[str]) -> frozenset[str]:
    """The words of code-like tokens with a single word, such as "c" of C++: other pages have them, too."""
    tokens = [token for text in texts for token in code_tokens(text).split()]
    return frozenset(words[0] for token in tokens if len(words := split(token)) == 1)
