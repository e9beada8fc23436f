"""How does text become the words that are indexed and searched?

Index and search share these analyzers, so a query is normalised exactly like a page. An analyzer belongs to a field,
not to a document, so every language has fields of its own; pages in a language without an analyzer go to `other`.
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


def url_words(url: str) -> str:
    """The part of a URL that holds words, its escapes undone."""
    return unquote(url.partition("//")[2])


def start_of(term: str, language: str) -> str:
    """What every word with this term begins with, once it is `folded`: a stem may replace the last letter ("happi")."""
    if language not in _STEMMED or len(term) < 3:
        return term
    return term[0] if len(term) == 3 and term.endswith("ie") else term[:-1]  # "die" stands for "dying" too


def folded(text: str) -> str:
    """A text in lower case and without accents, of the same length: a place in it is a place in the original."""
    lowered = text.lower()
    if lowered.isascii():
        return lowered
    if len(lowered) != len(text):  # a few letters have no lower case of one character
        lowered = "".join(character.lower()[0] for character in text)
    return lowered.translate(_plain_letters())


@lru_cache(maxsize=1)
def _plain_letters() -> dict[int, str]:
    """Accented Latin letters and what the analyzers make of them; of a ligature only the first letter."""
    accented = (*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00))
    plain = {code: "".join(terms(OTHER, chr(code))) for code in accented}
    return {code: letters[0] for code, letters in plain.items() if letters}


@lru_cache(maxsize=1)
def _splitter() -> TextAnalyzer:
    return TextAnalyzerBuilder(Tokenizer.simple()).build()


def register(index: Index) -> None:
    """Make the analyzers known to an index; needed again whenever one is opened."""
    for language in LANGUAGES:
        index.register_tokenizer(analyzer_name(language), analyzer(language))
