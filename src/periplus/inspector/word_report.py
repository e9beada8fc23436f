"""Which pages have a word, and which words has a page? Reads the forward index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tantivy import Index, Query

from periplus.errors import DamagedFile, NoIndex, UsageError
from periplus.index.documents.schema import NUMBER, URL_ID
from periplus.index.forward.forward_index import FIELDS, ForwardIndex
from periplus.index.storage.arrays import load_array
from periplus.index.storage.pagestore import PageStore
from periplus.index.storage.parts import document_numbers
from periplus.index.storage.shards import NUMBERS, shard_folders, shard_of
from periplus.index.suggest.vocabulary import MOST_EDITS, Vocabulary
from periplus.index.vectors.word_vectors import Vectors, open_vectors
from periplus.search.suggest.edit_cost import edit_costs
from periplus.store.collection import Collection
from periplus.store.generations import INDEX_KIND, Generations
from periplus.text.analyzer import folded, language_of, terms
from periplus.text.bm25 import idf, saturation
from periplus.text.words import split
from periplus.url import url_id

_SCORED = ("title", "headings", "anchors", "url", "description", "body")
_AT_ONCE = 2_000  # documents
_WORDS_SHOWN = 20  # per field
_SIMILAR_SHOWN = 8


def words_of(collection: Collection, url: str) -> dict[str, Any] | None:
    """The forward row of a page: length and most frequent words of every field; None when the page is not indexed."""
    try:
        generation = Generations(collection.index, INDEX_KIND).open_live()
    except NoIndex:
        return None
    if generation is None:
        return None
    with closing(generation):
        index, number = ForwardIndex(generation.folder), _document(generation.folder, url)
        return None if number is None else {field: _field(index, number, field) for field in FIELDS}


def term_report(collection: Collection, text: str, language: str, most: int) -> dict[str, Any]:
    """The JSON object of `inspect term`: frequencies of a word and the *most* best pages by BM25."""
    generation = Generations(collection.index, INDEX_KIND).open_live()
    if generation is None:
        raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
    with closing(generation):
        return _term_report(generation.folder, _single(text), language_of(language), most)


def word_report(collection: Collection, text: str, most: int) -> dict[str, Any]:
    """The JSON object of `inspect word`: frequency, language, the *most* nearest words, and similar spellings."""
    generation = Generations(collection.index, INDEX_KIND).open_live()
    if generation is None:
        raise NoIndex("the collection has no index yet", hint="`periplus index` builds one.")
    with closing(generation):
        return _word_report(generation.folder, _single(text), most)


def _word_report(generation: Path, word: str, most: int) -> dict[str, Any]:
    index = ForwardIndex(generation)
    number = index.lexicon.number(word)
    vectors = open_vectors(generation, index.lexicon)
    known = {"documents": 0, "counts": {}} if number is None else _word(index, number)
    return {
        "word": word,
        "documents": known["documents"],
        "of_documents": len(index),
        "language": None if number is None else index.lexicon.language(number),
        "counts": known["counts"],
        "has_vector": vectors is not None and number is not None and vectors.vector(number) is not None,
        "neighbours": [_frequency(index, one) for one in _similar(vectors, word, most)],
        "spellings": [_frequency(index, one) for one in _spellings(generation, index, word, most)],
    }


def _spellings(generation: Path, index: ForwardIndex, word: str, most: int) -> list[dict[str, Any]]:
    """The words with the most similar letters; the cost is in edits."""
    near = Vocabulary(generation, len(index.lexicon)).near(folded(word))
    costs = edit_costs(folded(word), near)
    spelled = [
        (round(float(cost), 2), index.lexicon.word(int(one))) for cost, one in zip(costs, near.numbers, strict=True)
    ]
    found = sorted((cost, other) for cost, other in spelled if cost <= MOST_EDITS and other != word)
    return [{"word": other, "edits": cost} for cost, other in found[:most]]


def _frequency(index: ForwardIndex, found: dict[str, Any]) -> dict[str, Any]:
    number = index.lexicon.number(found["word"])
    documents = index.lexicon.documents(np.array([number or 0], np.uint32))
    return {**found, "documents": int(documents[0])}


def _term_report(generation: Path, word: str, language: str, most: int) -> dict[str, Any]:
    index = ForwardIndex(generation)
    term = " ".join(terms(language, word))
    numbers = index.ids_of(term, language)
    scores, documents = _scores(index, numbers, document_numbers(generation))
    return {
        "word": word,
        "term": term,
        "language": language,
        "documents": documents,
        "of_documents": len(index),
        "idf": round(idf(documents, len(index)), 3),
        "words": [_word(index, number) for number in numbers.tolist()],
        "similar": _similar(open_vectors(generation, index.lexicon), word, _SIMILAR_SHOWN),
        "top": list(_pages(generation, scores, most)),
    }


def _single(text: str) -> str:
    found = split(text)
    if len(found) != 1:
        raise UsageError(f"{text!r} is not one word", f"it has {len(found)}", "Inspect one word at a time.")
    return found[0]


def _similar(vectors: Vectors | None, word: str, most: int) -> list[dict[str, Any]]:
    nearest = vectors.nearest(word, most) if vectors is not None else []
    return [{"word": name, "cosine": round(cosine, 3)} for name, cosine in nearest]


def _word(index: ForwardIndex, number: int) -> dict[str, Any]:
    documents = int(index.lexicon.documents(np.array([number], np.uint32))[0])
    counts = index.lexicon.counts(number)
    counts["body"] = counts.pop("opening") + counts.pop("rest")
    shown = {field: count for field, count in counts.items() if count}
    return {"word": index.lexicon.word(number), "documents": documents, "counts": shown}


def _scores(
    index: ForwardIndex, numbers: NDArray[np.uint32], documents: NDArray[np.int64]
) -> tuple[NDArray[np.float64], int]:
    """The BM25 score of every document, by number, and the number of documents with one of the words."""
    wanted = np.zeros(len(index.lexicon), bool)
    wanted[numbers] = True
    scores = np.zeros(sum(index.sizes))
    for start in range(0, len(documents) if len(numbers) else 0, _AT_ONCE):
        some = documents[start : start + _AT_ONCE]
        for field in _SCORED:
            words, starts = index.read(some, field)
            before = np.concatenate([[0], np.cumsum(wanted[words])])
            counts = before[starts[1:]] - before[starts[:-1]]
            scores[some] += saturation(counts, index.lengths(some, field), index.mean_length(field))
    found = int(np.count_nonzero(scores))
    return scores * idf(found, len(index)), found


def _pages(generation: Path, scores: NDArray[np.float64], most: int) -> Iterator[dict[str, Any]]:
    with PageStore(generation) as pages:
        for number in np.argsort(-scores, kind="stable")[:most].tolist():
            if scores[number] > 0:
                head = pages.head(number)
                yield {"url": head.url, "title": head.title, "score": round(float(scores[number]), 3)}


def _field(index: ForwardIndex, number: int, field: str) -> dict[str, Any]:
    words = Counter(word for word in index.words(number, field).tolist() if word)
    shown = {index.lexicon.word(word): count for word, count in words.most_common(_WORDS_SHOWN)}
    return {"length": words.total(), "different": len(words), "words": shown}


def _document(generation: Path, url: str) -> int | None:
    """The number of a page; None when it is not indexed."""
    shards, key = shard_folders(generation), url_id(url)
    folder = shards[shard_of(key, len(shards))] if shards else generation
    path = folder / "tantivy"
    try:
        index = Index.open(str(path))
        searcher = index.searcher()
        query = Query.term_query(index.schema, URL_ID, key.hex())
        addresses = [address for _, address in searcher.search(query, 1).hits]
        found = searcher.fast_field_values(NUMBER, addresses)
    except (ValueError, OSError) as error:
        raise DamagedFile(f"{path} is damaged", str(error)) from error
    if not found or found[0] is None:
        return None
    return int(load_array(folder / NUMBERS, np.uint32)[int(found[0])]) if shards else int(found[0])
