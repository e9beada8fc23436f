"""Splits text into the terms that are indexed and searched.

Index and search share these analyzers, so a query is normalised exactly like a page. An analyzer belongs to a field,
not to a document, so every language has its own fields. Pages in a language without a stemmer use `other`.

An analyzer lower-cases words, stems them, then removes accents, which stemmers need. It keeps stop words, because
phrases need them; a search drops them from a query that has other words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

from tantivy import Filter, Index, TextAnalyzer, TextAnalyzerBuilder, Tokenizer

from periplus.text.stop_words import STOP_WORDS
from periplus.text.unspaced import spaced

OTHER = "other"
_STEMMERS = {
    "en": "english",
    "de": "german",
    "fr": "french",
    "es": "spanish",
    "it": "italian",
    "pt": "portuguese",
    "nl": "dutch",
    "ru": "russian",
    "sv": "swedish",
    "da": "danish",
    "no": "norwegian",
    "fi": "finnish",
    "hu": "hungarian",
    "ro": "romanian",
    "tr": "turkish",
    "ar": "arabic",
    "el": "greek",
    "ta": "tamil",
}
LANGUAGES = (*_STEMMERS, OTHER)
CODE_ANALYZER = "periplus_code"
_PAGE_EXTENSION = re.compile(r"\.(?:x?html?|php|aspx?|jsp|md|txt)$", re.IGNORECASE)
_SAME = {"nb": "no", "nn": "no"}
_LONGEST_WORD = 50  # characters
_BYTES = {"ru": 2, "el": 2, "ar": 2, "ta": 3, OTHER: 3}  # per letter in UTF-8, after accents are removed; 1 elsewhere
# Stems of these languages may lack the beginning of the word: Arabic loses its article.
_WHOLE_WORDS = frozenset({"ar", "ta"})


class Token(NamedTuple):
    """A term and its position in the text."""

    term: str
    position: int


def language_of(declared: str) -> str:
    """The field language of a page that declares this language; English if it declares none."""
    code = declared.lower().replace("_", "-").partition("-")[0]
    code = _SAME.get(code, code)
    return code if code in _STEMMERS else OTHER if code else "en"


def analyzer_name(language: str) -> str:
    """The tokenizer name that tantivy uses for a language."""
    return f"periplus_{language}"


@lru_cache(maxsize=len(LANGUAGES))
def analyzer(language: str) -> TextAnalyzer:
    """Lower-cases words, stems them where tantivy supports the language, and removes accents."""
    return _stemmed(_lower(language), language)


@lru_cache(maxsize=len(LANGUAGES))
def _content_analyzer(language: str) -> TextAnalyzer:
    """Like `analyzer`, but drops stop words."""
    return _stemmed(_without_stop_words(_lower(language), language), language)


@lru_cache(maxsize=len(LANGUAGES))
def _stop_word_filter(language: str) -> TextAnalyzer:
    return _without_stop_words(_lower(language), language).build()


def _lower(language: str) -> TextAnalyzerBuilder:
    return TextAnalyzerBuilder(_tokenizer(language)).filter(Filter.lowercase())


def _tokenizer(language: str) -> Tokenizer:
    """Splits at spaces and punctuation. tantivy's own tokenizer also splits Tamil words, at the mark for "no vowel"."""
    return Tokenizer.regex(r"[\p{Alphabetic}\p{M}\p{N}]+") if language == "ta" else Tokenizer.simple()


def _without_stop_words(builder: TextAnalyzerBuilder, language: str) -> TextAnalyzerBuilder:
    if (words := STOP_WORDS.get(language)) is not None:
        capitals = words.replace("\u03c2", "\u03c3")  # tantivy's lower case of a capital sigma at the end of a word
        return builder.filter(Filter.custom_stopword([*words.split(), *capitals.split()]))
    return builder if language == OTHER else builder.filter(Filter.stopword(_STEMMERS[language]))


def _stemmed(builder: TextAnalyzerBuilder, language: str) -> TextAnalyzer:
    """Stems, then removes accents; English words have accents only by accident, so there they are removed first."""
    filters = [Filter.stemmer(_STEMMERS[language])] if language in _STEMMERS else []
    filters.insert(0 if language == "en" else 1, Filter.ascii_fold())
    longest = _LONGEST_WORD * _BYTES.get(language, 1)
    for each in (*filters, Filter.remove_long(longest + 1)):
        builder = builder.filter(each)
    return builder.build()


def terms(language: str, text: str) -> list[str]:
    """The terms of a text, in order."""
    return list(analyzer(language).analyze(spaced(text)))


def content_terms(language: str, text: str) -> list[str]:
    """The terms of a text without stop words, in order."""
    return list(_content_analyzer(language).analyze(spaced(text)))


def tokens(language: str, text: str) -> list[Token]:
    """The terms of a text with their positions, for phrase queries; overlong words leave gaps."""
    found = []
    for position, word in enumerate(_splitter(language).analyze(spaced(text))):
        found += [Token(term, position) for term in analyzer(language).analyze(word)]
    return found


@lru_cache(maxsize=10_000)
def is_stop_word(language: str, text: str) -> bool:
    """Whether a text consists of stop words of a language."""
    return not _stop_word_filter(language).analyze(spaced(text))


def url_words(url: str) -> str:
    """A URL without its scheme, percent-decoded, for indexing its words."""
    return unquote(url.partition("//")[2])


def url_parts(url: str) -> list[str]:
    """The host, then the parts of the path, without the extension of a page and without a last `index`."""
    *parts, last = url_words(url).split("/")
    last = _PAGE_EXTENSION.sub("", last)
    return [*parts, "" if last == "index" else last]


def start_of(term: str, language: str) -> str:
    """A common prefix of all `folded` words with this term; a stem may replace the last letters ("happi")."""
    if language in _WHOLE_WORDS:
        return ""
    if language == OTHER or len(term) < 3:
        return term if language in {OTHER, "en"} else term[:1]
    if language != "en":
        return term[:2]
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
    """Accented letters and their plain letters, as the analyzers remove accents; the first letter of a ligature."""
    latin = (*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00))
    plain = {code: "".join(terms(OTHER, chr(code))) for code in latin}
    greek = {code: unicodedata.normalize("NFD", chr(code)) for code in range(0x0386, 0x03CF)}
    return {code: letters[0] for code, letters in {**plain, **greek, 0x0451: "\u0435"}.items() if letters}


@lru_cache(maxsize=len(LANGUAGES))
def _splitter(language: str) -> TextAnalyzer:
    return TextAnalyzerBuilder(_tokenizer(language)).build()


def register(index: Index) -> None:
    """Register the analyzers with an index; tantivy needs this every time an index is opened."""
    for language in LANGUAGES:
        index.register_tokenizer(analyzer_name(language), analyzer(language))
    index.register_tokenizer(CODE_ANALYZER, TextAnalyzerBuilder(Tokenizer.whitespace()).build())
