"""Which fields does the index have?

Every language has its own set of text fields, and a page fills those of its language. `title`, `head` and `anchors` are
the short barrel; with `body` and the words of the URL they are the full barrel.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from tantivy import Schema, SchemaBuilder

from periplus.index.documents.facets import add_facets
from periplus.text.analyzer import CODE_ANALYZER, LANGUAGES, OTHER, analyzer_name

SHORT_BARREL = ("title", "head", "anchors")
FULL_BARREL = (*SHORT_BARREL, "body")
URL_WORDS = "url_words"  # of the URL, unstemmed
CODE = "code"  # code-like tokens as they are, in lower case; one field for all languages
FIELD_LANGUAGE = "field_language"  # whose fields the page fills
NUMBER = "number"  # the document number: dense, the key of page store and features
URL_ID = "url_id"  # hexadecimal
SITE = "site"  # the host and every domain above it, so that site:example.org finds www.example.org
PRIOR = "prior"  # tantivy multiplies a text score by log2(2 + prior)


RANKS = "ranks.npy"  # file: the relative PageRank of every document, 1 for a page without links to it
QUALITIES = "qualities.npy"  # file: the quality of every document and its host, from 0 to 1
HOSTS = "hosts.npy"  # file: a hash of the host of every document

_STEP = 0.05  # of the logarithm: priors differ by 5 %, so few documents change when ranks do
_LARGEST_FACTOR = 100.0  # tantivy uses 32-bit floats, in which 2 to the power of 128 is infinite


def prior_steps(ranks: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """The logarithm of the factor for text scores, in whole steps: a document is changed when its steps change."""
    return np.rint(np.log(np.maximum(ranks, 1.0)) * (strength / _STEP))


def prior_factor(ranks: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """The factor for text scores when candidates are selected."""
    return np.exp(np.minimum(prior_steps(ranks, strength) * _STEP, math.log(_LARGEST_FACTOR)))


def stored_prior(rank: float, strength: float) -> float:
    """The value of `PRIOR` with which tantivy multiplies a text score by `prior_factor`."""
    steps = round(math.log(max(rank, 1.0)) * (strength / _STEP))  # `prior_steps` of one rank, in a tenth of the time
    return float(2.0 ** min(math.exp(steps * _STEP), _LARGEST_FACTOR)) - 2.0


def field(name: str, language: str) -> str:
    """The name of a field in one language."""
    return f"{name}_{language}"


def schema(languages: Iterable[str]) -> Schema:
    """The schema of an index with pages in these languages."""
    present = set(languages)
    builder = SchemaBuilder()
    for language in filter(present.__contains__, LANGUAGES):
        for name in FULL_BARREL:
            builder.add_text_field(field(name, language), tokenizer_name=analyzer_name(language))
        builder.add_text_field(field(URL_WORDS, language), tokenizer_name=analyzer_name(OTHER))
    builder.add_text_field(CODE, tokenizer_name=CODE_ANALYZER, index_option="basic")
    builder.add_text_field(FIELD_LANGUAGE, tokenizer_name="raw", index_option="basic")
    builder.add_integer_field(NUMBER, indexed=True, fast=True)
    builder.add_text_field(URL_ID, tokenizer_name="raw", index_option="basic")
    builder.add_text_field(SITE, tokenizer_name="raw", index_option="basic")
    builder.add_float_field(PRIOR, fast=True)
    add_facets(builder)
    return builder.build()
