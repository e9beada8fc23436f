"""How does text become the words that are indexed and searched?

Index and search share these analyzers, so a query is normalised exactly like a page. An analyzer belongs to a field,
not to a document, so every language has fields of its own; pages in a language without an analyzer go to `other`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from tantivy import Filter, Index, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

OTHER = "other"
LANGUAGES = ("en", OTHER)
_STEMMED = {"en": "english"}
_LONGEST_WORD = 64


class Token(NamedTuple):
    """A word as it is indexed, and where it stood."""

    term: str
    position: int


def language_of(declared: str) -> str:
    """The set of fields for a page that declares this language; pages that declare none are taken for English."""
    code = declared.lower().replace("_", "-").partition("-")[0]
    return code if code in _STEMMED else "en" if not code else OTHER


def analyzer_name(language: str) -> str:
    """The name under which tantivy knows the analyzer of a language."""
    return f"periplus_{language}"


@lru_cache(maxsize=len(LANGUAGES))
def analyzer(language: str) -> TextAnalyzer:
    """Words of letters and digits, lower case, without accents; stop words and stems where the language has them."""
    builder = TextAnalyzerBuilder(Tokenizer.simple()).filter(Filter.remove_long(_LONGEST_WORD))
    builder = builder.filter(Filter.lowercase()).filter(Filter.ascii_fold())
    if (name := _STEMMED.get(language)) is not None:
        builder = builder.filter(Filter.stopword(name)).filter(Filter.stemmer(name))
    return builder.build()


def terms(language: str, text: str) -> list[str]:
    """The words of a text as the index holds them, in order."""
    return list(analyzer(language).analyze(text))


def tokens(language: str, text: str) -> list[Token]:
    """The words of a text with their positions, which stop words leave gaps in; a phrase is matched by these."""
    found = []
    for position, word in enumerate(_splitter().analyze(text)):
        found += [Token(term, position) for term in analyzer(language).analyze(word)]
    return found


@lru_cache(maxsize=1)
def _splitter() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).build()


def register(index: Index) -> None:
    """Make the analyzers known to an index; needed again whenever one is opened."""
    for language in LANGUAGES:
        index.register_tokenizer(analyzer_name(language), analyzer(language))
