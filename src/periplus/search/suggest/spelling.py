"""Which query was meant? Proposes corrections of misspelled words from the words of the collection.

A word is a typo when a similar word is far more frequent than the word itself. A word in a title, heading, URL or
anchor text is never a typo, nor is a code-like word. The search decides with `choose`, after it has searched for both
queries.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.suggest.phrases import Phrases
from periplus.index.suggest.vocabulary import Near, Vocabulary, is_stored
from periplus.index.vectors.word_vectors import Vectors, open_vectors
from periplus.search.suggest.edit_cost import edit_costs
from periplus.search.suggest.spelling_variants import other_spellings
from periplus.text.analyzer import LANGUAGES, folded, is_stop_word, terms
from periplus.text.stop_words import COMMON_ENGLISH

# Ranking of the words that a typo may mean. Learned on words with one and two random edits, and on the judged typos.
_FREQUENCY = 0.1  # edits that a word may cost more when it is 2.7 times as frequent
_FOREIGN = 0.3  # edits: a word of another language than that of the query
_COMPANY = 0.5  # edits, times the cosine with the other words of the query
_ADJACENT = 0.4  # edits: a title, heading or anchor text has the word beside its neighbour in the query
_READINGS = 2  # of a misspelled neighbour
_NAMED = 2.0  # an occurrence in a title, heading, URL or anchor text counts as so many documents
_MOST_NAMED = 50
_COSTLIEST = 2.4  # edits
_INFLECTION = 1.0  # edits between two forms of one word; with more, the same stem may be chance
_COMPARED = 8  # words, after costs and frequency

# Confidence: the logarithm of the odds that the other word was meant.
_PER_EDIT = 5.0  # for a word of eight letters; more for a shorter one
_USUAL_LENGTH = 8.0
_FITTING = 0.25  # cosine with the other words of the query
_OUT_OF_CONTEXT = 3.5  # less for a word that fits none of the other words: "canker sores" is no "cancer sores"
_UNSEEN = 0.02  # documents that an unknown word counts as
_STEM_SHARE, _MOST_OF_STEM = 0.02, 0.5  # of the documents with the stem of an unknown word, and at most
_FOREIGN_SHARE = 0.1  # of the documents with a word of another language
_LEAST_ODDS_UNSEEN = -5.0  # of a proposal for a word that no page has; a confidence of 0.007
_LEAST_ODDS_STEM = -1.0  # for a word whose stem some page has; 0.27
_LEAST_ODDS_SEEN = 1.5  # for a word that some page has; 0.82

_AGREEING = 2  # known words of one language that make the language of a query sure
_SHORTEST = 4  # letters of a word that is corrected
_SHORTEST_PART = 3  # letters of a part of a word that is split
_SPACE = 0.8  # edits: a missing space, or one too many
_PAIR = 10.0  # documents that a phrase with both parts of a split word counts as
_MOST_WORDS = 12  # in a query; longer queries are not corrected
_MOST_CORRECTIONS = 3

# Decision. A page that has all words of the query as typed is strong evidence for it.
_SURE, _LIKELY, _POSSIBLE = 0.8, 0.6, 0.1  # confidence
_SEVERAL = 5  # pages with all words of the correction, when no page has those of the query as typed
_LITTLE = 2  # pages with all words of the query as typed
_CLEARLY_MORE = 20  # times as many pages with all words of the correction
_COMMON_WORDS = frozenset(COMMON_ENGLISH.split())
F32 = NDArray[np.float32]


class Choice(StrEnum):
    """Which query the search shows results for."""

    KEEP = "keep"
    SUGGEST = "suggest"  # results for the query as typed, with a link to the correction
    REPLACE = "replace"  # results for the correction, with a link to the query as typed


class Replacement(NamedTuple):
    """New text for some neighbouring words of the query."""

    first: int  # place of the first replaced word
    end: int  # place after the last one
    text: str


@dataclass(frozen=True, slots=True)
class Correction:
    """A query that may have been meant."""

    words: tuple[str, ...]  # of the corrected query
    replacements: tuple[Replacement, ...]  # in the order of the words
    confidence: float  # 0 to 1: how likely it was meant
    is_shown: bool  # False when every change is another right spelling, such as British for American
    known: tuple[bool, ...]  # of each word as it was typed: the collection has it, or it is never corrected

    @property
    def text(self) -> str:
        """The corrected query."""
        return " ".join(self.words)


class _Option(NamedTuple):
    """Another reading of one word, or of two neighbours."""

    replacement: Replacement
    odds: float  # logarithm
    is_variant: bool  # another right spelling
    cost: float  # after frequency and context: the smallest is best


class _Language(NamedTuple):
    """The language that a word of the query is probably in."""

    name: str
    is_sure: bool  # several other words of the query agree
    is_guess: bool  # nothing is known; no word counts as foreign
    is_alone: bool  # no other word of the query is known


class _Word(NamedTuple):
    """A word as it was typed that may be a typo."""

    seen: float  # documents with the word; smaller than 1 for an unknown word
    similar: list[_Similar]  # best first, by cost and frequency


class _Similar(NamedTuple):
    """A word with similar spelling."""

    number: int  # in the lexicon
    text: str
    cost: float  # edits
    weight: float  # logarithm of its frequency


class Speller:
    """Corrects queries; safe to share between threads."""

    def __init__(
        self, index: ForwardIndex, vocabulary: Vocabulary, phrases: Phrases, vectors: Vectors | None = None
    ) -> None:
        self._index, self._lexicon, self._vectors = index, index.lexicon, vectors
        self._vocabulary, self._phrases = vocabulary, phrases

    @classmethod
    def open(cls, generation: Path) -> Speller:
        """Open the files of a generation; one of an earlier release has no vocabulary, so nothing is corrected."""
        index = ForwardIndex(generation)
        vectors = open_vectors(generation, index.lexicon)
        return cls(index, Vocabulary(generation, len(index.lexicon)), Phrases(generation), vectors)

    def corrections(self, words: Sequence[str], languages: Sequence[str] = ()) -> list[Correction]:
        """The queries that may have been meant, best first.

        *words*: the words of the query that may be corrected, in order. *languages*: of the reader, as `language_of`
        names them; without them the known words of the query decide.
        """
        if not 0 < len(words) <= _MOST_WORDS:
            return []
        spoken = self._languages(words, languages)
        looked_up = [self._look_up(word, language) for word, language in zip(words, spoken, strict=True)]
        options = [self._options(words, looked_up, place, language) for place, language in enumerate(spoken)]
        known = tuple(word is None or word.seen >= 1 for word in looked_up)
        return _combined(words, options, known)

    def variants(self, word: str) -> list[str]:
        """Other right spellings of a word that the collection has in the same language: American for British."""
        number = self._lexicon.number(word.lower())
        own = None if number is None else self._lexicon.language(number)
        forms = {form: self._lexicon.number(form) for form in other_spellings(word.lower())}
        known = {form: self._lexicon.language(found) for form, found in forms.items() if found is not None}
        return [form for form, language in known.items() if own in {None, language}]

    # -- a word as it was typed ----------------------------------------------------------------------------------

    def _languages(self, words: Sequence[str], hints: Sequence[str]) -> list[_Language]:
        """The language of each place of the query: that of most known words elsewhere in it."""
        found = [self._lexicon.number(word.lower()) if len(word) >= _SHORTEST else None for word in words]
        known = [None if number is None else self._lexicon.language(number) for number in found]
        languages = []
        for place, own in enumerate(known):
            others = Counter(language for language in known[:place] + known[place + 1 :] if language is not None)
            is_sure = len(others) == 1 and others.total() >= _AGREEING
            usual = others.most_common(1)[0][0] if others else own or next(iter(hints), "")
            languages.append(_Language(usual or LANGUAGES[0], is_sure, not usual, not others))
        return languages

    def _look_up(self, typed: str, language: _Language) -> _Word | None:
        """What is known about a word; None for a word that is never corrected."""
        word, number = folded(typed), self._lexicon.number(typed.lower())
        if len(word) < _SHORTEST or not is_stored(word) or _is_code(typed) or _is_common(typed, language.name):
            return None
        if number is not None and self._is_named(np.array([number], np.uint32), language):
            return None
        near = self._vocabulary.near(word)
        costs = edit_costs(word, near)
        same = near.numbers[(costs == 0) | self._same_terms(typed, near, costs, language.name)]
        numbers = np.array(sorted({*same.tolist(), number} - {None}), np.uint32)
        if self._is_named(numbers, language):
            return None
        seen = self._documents(numbers, language.name)
        if seen < 1:
            others = self._index.ids_of("".join(terms(language.name, typed)), language.name)
            seen += min(_STEM_SHARE * self._documents(others, language.name), _MOST_OF_STEM)
        return _Word(seen, self._similar(near, costs))

    def _is_named(self, numbers: NDArray[np.uint32], language: _Language) -> bool:
        """Whether a title, heading, URL or anchor text has one of these words; of any language, unless it is sure."""
        named = numbers[self._lexicon.named_counts(numbers) > 0].tolist()
        return any(not language.is_sure or self._lexicon.language(number) == language.name for number in named)

    def _same_terms(self, typed: str, near: Near, costs: F32, language: str) -> NDArray[np.bool_]:
        """Which similar words have the term of the typed word, so that a search for it finds their pages."""
        wanted = terms(language, typed)
        same = np.zeros(len(costs), bool)
        for place in np.flatnonzero(costs <= _INFLECTION).tolist():
            same[place] = terms(language, self._lexicon.word(int(near.numbers[place]))) == wanted
        return same

    def _documents(self, numbers: NDArray[np.uint32], language: str) -> float:
        """Documents with the words; a word of another language counts less."""
        is_own = [self._lexicon.language(number) == language for number in numbers.tolist()]
        return float(self._lexicon.documents(numbers) @ np.where(is_own, 1.0, _FOREIGN_SHARE)) if is_own else 0.0

    # -- other words ---------------------------------------------------------------------------------------------

    def _options(
        self, words: Sequence[str], looked_up: Sequence[_Word | None], place: int, language: _Language
    ) -> list[_Option]:
        """Other readings of the word at a place, best first; none for a word that is certainly right."""
        word = looked_up[place]
        if word is None:
            return []
        options = [*self._respelled(words, looked_up, place, language), *self._split(words, word, place)]
        options += self._joined(words, word, place, language.name)
        least = _LEAST_ODDS_SEEN if word.seen >= 1 else _LEAST_ODDS_STEM if word.seen else _LEAST_ODDS_UNSEEN
        return sorted((option for option in options if option.odds >= least), key=lambda option: option.cost)

    def _similar(self, near: Near, costs: F32) -> list[_Similar]:
        named = np.minimum(self._lexicon.named_counts(near.numbers), _MOST_NAMED)
        weights = np.log(self._lexicon.documents(near.numbers) + _NAMED * named + 1)
        ranked = np.where((costs > 0) & (costs <= _COSTLIEST), costs - _FREQUENCY * weights, np.inf)
        best = np.argsort(ranked, kind="stable")[:_COMPARED]
        return [
            _Similar(
                number := int(near.numbers[one]), self._lexicon.word(number), float(costs[one]), float(weights[one])
            )
            for one in best[np.isfinite(ranked[best])].tolist()
        ]

    def _respelled(
        self, words: Sequence[str], looked_up: Sequence[_Word | None], place: int, language: _Language
    ) -> Iterator[_Option]:
        """The word at a place with another spelling."""
        word, typed = looked_up[place], words[place]
        if word is None:
            return
        variants = self.variants(typed)
        others = self._company(words, place)
        for number, text, cost, weight in word.similar:
            foreign = _FOREIGN * (not language.is_guess and self._lexicon.language(number) != language.name)
            similarity = self._similarity(number, others)
            is_adjacent = self._is_adjacent(text, words, looked_up, place)
            context = _COMPANY * similarity + _ADJACENT * is_adjacent
            odds = self._odds(weight, cost + foreign - (context if word.seen < 1 else 0.0), word, typed)
            if not (language.is_alone or is_adjacent) and similarity < _FITTING:
                odds -= _OUT_OF_CONTEXT
            replacement = Replacement(place, place + 1, _cased(text, typed))
            yield _Option(replacement, odds, text in variants, cost - _FREQUENCY * weight + foreign - context)

    def _company(self, words: Sequence[str], place: int) -> F32 | None:
        """The mean vector of the other words of the query, of length 1; None when no other word is known."""
        found = [self._lexicon.number(word.lower()) for at, word in enumerate(words) if at != place]
        others = np.array([number for number in found if number is not None], np.uint32)
        if self._vectors is None or not len(others):
            return None
        mean = self._vectors.mean(others, np.ones(len(others), np.float32))
        length = float(np.linalg.norm(mean))
        return mean / np.float32(length) if length else None

    def _similarity(self, number: int, others: F32 | None) -> float:
        """The cosine of a word and the other words of the query; 0 when it is negative or unknown."""
        vector = self._vectors.vector(number) if self._vectors is not None and others is not None else None
        return max(0.0, float(vector @ others)) if vector is not None and others is not None else 0.0

    def _is_adjacent(self, text: str, words: Sequence[str], looked_up: Sequence[_Word | None], place: int) -> bool:
        """Whether a title, heading or anchor text has a word beside a neighbour in the query, or what that may mean."""
        before = _readings(words, looked_up, place - 1)
        after = _readings(words, looked_up, place + 1)
        pairs = [f"{one} {text}" for one in before] + [f"{text} {one}" for one in after]
        return any(len(self._phrases.beginning(folded(pair))[0]) for pair in pairs)

    @staticmethod
    def _odds(weight: float, cost: float, word: _Word, typed: str) -> float:
        return weight - math.log(word.seen + _UNSEEN) - _PER_EDIT * cost * _USUAL_LENGTH / len(typed)

    def _split(self, words: Sequence[str], word: _Word, place: int) -> list[_Option]:
        """The word as two words that stand side by side in a title, heading or anchor text."""
        typed, best = folded(words[place]), list[_Option]()
        for at in range(_SHORTEST_PART, len(typed) - _SHORTEST_PART + 1) if word.seen < 1 else ():
            first, second = typed[:at], typed[at:]
            if self._lexicon.number(first) is None or self._lexicon.number(second) is None:
                continue
            pairs = len(self._phrases.beginning(f"{first} {second}")[0])
            if pairs:
                weight = math.log(1 + _PAIR * pairs)
                odds = self._odds(weight, _SPACE, word, words[place])
                replacement = Replacement(place, place + 1, f"{words[place][:at]} {words[place][at:]}")
                best.append(_Option(replacement, odds, False, _SPACE - _FREQUENCY * weight))
        return best

    def _joined(self, words: Sequence[str], word: _Word, place: int, language: str) -> list[_Option]:
        """The word and the one after it as a single word."""
        if place + 1 == len(words) or not words[place + 1].isalpha():
            return []
        text = (words[place] + words[place + 1]).lower()
        number = self._lexicon.number(text)
        if number is None:
            return []
        weight = math.log1p(self._documents(np.array([number], np.uint32), language))
        odds = self._odds(weight, _SPACE, word, text)
        return [_Option(Replacement(place, place + 2, text), odds, False, _SPACE - _FREQUENCY * weight)]


def choose(correction: Correction, original_found: int, corrected_found: int) -> Choice:
    """Decide between a query and its correction by the number of pages that have all words of each."""
    is_sure = correction.confidence >= _SURE
    if original_found == 0:
        if is_sure or (corrected_found >= _SEVERAL and correction.confidence >= _LIKELY):
            return Choice.REPLACE  # a sure one even when no page has all its words, as for a long question
        return Choice.SUGGEST if corrected_found and correction.confidence >= _POSSIBLE else Choice.KEEP
    if corrected_found < _CLEARLY_MORE * original_found or correction.confidence < _LIKELY:
        return Choice.KEEP
    return Choice.REPLACE if is_sure and original_found <= _LITTLE else Choice.SUGGEST


def _combined(words: Sequence[str], options: Sequence[list[_Option]], known: tuple[bool, ...]) -> list[Correction]:
    """The best option of every word together, then the same with the next option of one word."""
    changed = [place for place, found in enumerate(options) if found]
    if not changed:
        return []
    best = {place: options[place][0] for place in changed}
    choices = [best]
    choices += [best | {place: option} for place in changed for option in options[place][1:_MOST_CORRECTIONS]]
    choices[1:] = sorted(choices[1:], key=lambda chosen: sum(option.cost for option in chosen.values()))
    found = [_correction(words, list(chosen.values()), known) for chosen in choices]
    return list({correction.text: correction for correction in reversed(found[:_MOST_CORRECTIONS])}.values())[::-1]


def _correction(words: Sequence[str], chosen: list[_Option], known: tuple[bool, ...]) -> Correction:
    replacements: list[Replacement] = []
    corrected: list[str] = []
    place = 0
    for option in sorted(chosen, key=lambda one: one.replacement.first):
        first, end, text = option.replacement
        if first < place:  # the word before was joined with this one
            continue
        corrected += [*words[place:first], *text.split()]
        replacements.append(option.replacement)
        place = end
    corrected += words[place:]
    odds = min(option.odds for option in chosen)
    confidence = 1 / (1 + math.exp(-max(min(odds, 50.0), -50.0)))
    is_shown = not all(option.is_variant for option in chosen)
    return Correction(tuple(corrected), tuple(replacements), confidence, is_shown, known)


def _readings(words: Sequence[str], looked_up: Sequence[_Word | None], place: int) -> list[str]:
    """The word at a place as typed, or the words that it most probably means; none outside the query."""
    if not 0 <= place < len(words):
        return []
    word = looked_up[place]
    return [words[place]] if word is None or word.seen >= 1 else [one.text for one in word.similar[:_READINGS]]


def _is_code(word: str) -> bool:
    """Whether a word has a capital letter after a small one: `readFile`."""
    return any(one.islower() and two.isupper() for one, two in pairwise(word))


def _is_common(word: str, language: str) -> bool:
    return word.lower() in _COMMON_WORDS or is_stop_word(language, word)


def _cased(text: str, typed: str) -> str:
    """A word with the capitals of the word that it replaces."""
    if typed.isupper():
        return text.upper()
    return text[:1].upper() + text[1:] if typed[:1].isupper() else text
