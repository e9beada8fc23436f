"""Splits text into the terms that are indexed and searched.

Index and search share these analyzers, so a query is normalised exactly like a page. An analyzer belongs to a field,
not to a document, so every language has its own fields. Pages in a language without an analyzer use `other`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from tantivy import Filter, Index, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

OTHER = "other"
LANGUAGES = ("en", OTHER)
_STEMMED = {"en": "english"}
_LONGEST_WORD = 64


class Token(NamedTuple):
    """A term and its position in the text."""

    term: str
    position: int


def language_of(declared: str) -> str:
    """The field language of a page that declares this language; English if it declares none."""
    code = declared.lower().replace("_", "-").partition("-")[0]
    return code if code in _STEMMED else "en" if not code else OTHER


def analyzer_name(language: str) -> str:
    """The tokenizer name that tantivy uses for a language."""
    return f"periplus_{language}"


@lru_cache(maxsize=len(LANGUAGES))
def analyzer(language: str) -> TextAnalyzer:
    """Lower-cases words and removes accents; removes stop words and stems where tantivy supports the language."""
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    builder = builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    if (name := _STEMMED.get(language)) is not None:
        builder = builder.filter(Filter.stopword(name)).filter(Filter.stemmer(name))
    return builder.build()


def terms(language: str, text: str) -> list[str]:
    """The terms of a text, in order."""
    return list(analyzer(language).analyze(text))


def tokens(language: str, text: str) -> list[Token]:
    """The terms of a text with their positions, for phrase queries; stop words leave gaps."""
    found = []
    for position, word in enumerate(_splitter().analyze(text)):
        found += [Token(term, position) for term in analyzer(language).analyze(word)]
    return found


def url_words(url: str) -> str:
    """A URL without its scheme, percent-decoded, for indexing its words."""
    return unquote(url.partition("//")[2])


def start_of(term: str, language: str) -> str:
    """The common prefix of all `folded` words with this term; a stem may replace the last letter ("happi")."""
    if language not in _STEMMED or len(term) < 3:
        return term
    return term[0] if len(term) == 3 and term.endswith("ie") else term[:-1]  # "die" is also the stem of "dying"


def folded(text: str) -> str:
    """A text in lower case without accents; it has the same length, so positions match the original."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    if len(lowered) != len(text):  # some letters have a lower case of two characters
        lowered = "".join(character.lower()[0] for character in text)
    return lowered.translate(_plain_letters())


@lru_cache(maxsize=1)
def _plain_letters() -> dict[int, str]:
    """Accented Latin letters and their plain letters; the first letter of a ligature."""
    accented = (*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00))
    plain = {code: "".join(terms(OTHER, chr(code))) for code in accented}
    return {code: letters[0] for code, letters in plain.items() if letters}


@lru_cache(maxsize=1)
def _splitter() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).build()


def register(index: Index) -> None:
    """Register the analyzers with an index; tantivy needs this every time an index is opened."""
    for language in LANGUAGES:
        index.register_tokenizer(analyzer_name(language), analyzer(language))
