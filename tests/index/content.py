"""The content of a generation without its numbers, to compare an update with a full build."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from tantivy import Index, Occur, Query

from periplus.index.documents.schema import (
    CODE,
    FIELD_LANGUAGE,
    FULL_BARREL,
    HOSTS,
    NUMBER,
    PRIOR,
    QUALITIES,
    RANKS,
    SITE,
    URL_ID,
    URL_WORDS,
    field,
)
from periplus.index.forward.forward_index import FIELDS, ForwardIndex
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.parts import document_numbers
from periplus.store.generations import META
from periplus.text.analyzer import register


def urls_of(generation: Path) -> list[str]:
    """The URLs of all documents, in the order of their numbers."""
    with PageStore(generation) as pages:
        return [pages.head(number).url for number in document_numbers(generation).tolist()]


def content_of(generation: Path) -> dict[str, Any]:
    """Everything that must be equal: documents, stored fields, words, figures, ranks, fast fields."""
    return {
        "documents": documents_of(generation),
        "words": words_of(generation),
        "fast": fast_fields_of(generation),
    }


def documents_of(generation: Path) -> dict[str, Any]:
    """What is stored of every document, by URL."""
    numbers, found = document_numbers(generation), {}
    arrays = [np.load(generation / name) for name in (RANKS, QUALITIES, HOSTS)]
    forward = ForwardIndex(generation)
    with PageStore(generation) as pages:
        for number in numbers.tolist():
            head = pages.head(number)
            assert head.url not in found
            rows = {name: _row(forward, number, name) for name in FIELDS}
            figures = [round(float(array[number]), 5) for array in arrays]
            found[head.url] = (head, pages.text(number), pages.details(number), rows, figures)
    return found


def _row(forward: ForwardIndex, number: int, name: str) -> Any:
    """The words of a field; the order of anchor texts does not count."""
    words = [forward.lexicon.word(word) for word in forward.words(number, name).tolist()]
    length = int(forward.lengths(np.array([number]), name)[0])
    return (Counter(words) if name == "anchors" else words), length


def words_of(generation: Path) -> dict[str, Any]:
    """The figures of all words that are in use, and those of the fields."""
    forward = ForwardIndex(generation)
    lexicon = forward.lexicon
    frequencies = lexicon.documents(np.arange(len(lexicon), dtype=np.uint32)).tolist()
    used = [number for number in range(1, len(lexicon)) if frequencies[number]]
    return {
        "documents": len(forward),
        "means": {name: round(forward.mean_length(name), 6) for name in FIELDS},
        "figures": {lexicon.word(number): (frequencies[number], lexicon.counts(number)) for number in used},
        "found": all(lexicon.number(lexicon.word(number)) == number for number in used),
        "vocabulary": [lexicon.word(number) for number in lexicon.vocabulary.tolist()],
    }


def fast_fields_of(generation: Path) -> dict[int, Any]:
    """The fast fields of every document, by its place in the order of URLs; and what tantivy finds by every field."""
    index = Index.open(str(generation / "tantivy"))
    register(index)
    searcher = index.searcher()
    with PageStore(generation) as pages:
        url_of = {number: pages.head(number).url for number in document_numbers(generation).tolist()}
    hits = searcher.search(Query.all_query(), max(len(url_of), 1)).hits
    addresses = [address for _, address in hits]
    numbers = searcher.fast_field_values(NUMBER, addresses)
    columns = [
        searcher.fast_field_values(name, addresses) for name in ("language", "type", "kind", "date", "host", PRIOR)
    ]
    return {url_of[number]: row for number, *row in zip(numbers, *columns, strict=True)}  # type: ignore[misc]


def matches_of(generation: Path, words: list[str]) -> dict[str, list[str]]:
    """The URLs that each word, pair of words (AND), and phrase finds in each field, where it finds any.

    An update keeps the fields of a language without pages; a full build does not have them.
    """
    languages = orjson.loads((generation / META).read_bytes())["languages"]
    index = Index.open(str(generation / "tantivy"))
    register(index)
    searcher = index.searcher()
    with PageStore(generation) as pages:
        url_of = {number: pages.head(number).url for number in document_numbers(generation).tolist()}

    def found(query: Query) -> list[str]:
        addresses = [address for _, address in searcher.search(query, max(len(url_of), 1)).hits]
        return sorted(url_of[number] for number in searcher.fast_field_values(NUMBER, addresses))

    names = [field(name, language) for language in languages for name in (*FULL_BARREL, URL_WORDS)]
    names += [CODE, SITE, URL_ID, FIELD_LANGUAGE]
    results = {}
    for name in names:
        terms = {word: Query.term_query(index.schema, name, word) for word in words}
        for word, query in terms.items():
            results[f"{name}:{word}"] = found(query)
        for one, other in pairwise(words):
            both = Query.boolean_query([(Occur.Must, terms[one]), (Occur.Must, terms[other])])
            results[f"{name}:{one} AND {other}"] = found(both)
            if name.startswith(("title", "body", "head", "anchors")):
                results[f'{name}:"{one} {other}"'] = found(Query.phrase_query(index.schema, name, [one, other]))
    return {query: urls for query, urls in results.items() if urls}
