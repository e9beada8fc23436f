"""Measures rankings: searches every judged query and computes the figures of its results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from periplus.config import Settings
from periplus.errors import BadUrl
from periplus.evaluation.collection_figures import CollectionFigures
from periplus.evaluation.document_index import indexed_documents
from periplus.evaluation.judgements import JudgedQuery, Judgements, address_key
from periplus.evaluation.metrics import DEPTH, METRICS, Figures, Scale, figures, mean_figures
from periplus.evaluation.profiles import PROFILES, Matched, ranked
from periplus.evaluation.significance import Comparison, compare
from periplus.search.engine import SearchEngine
from periplus.search.query.terms import QueryTerms
from periplus.search.query_language import query_language
from periplus.store.collection import Collection, open_collection
from periplus.text.unspaced import blanked, pieces
from periplus.text.words import split
from periplus.url import parse

OURS = "default"  # the profile with the weights of the settings
ALL_PROFILES = (OURS, *PROFILES)
_REFERENCE_CANDIDATES = 1_000  # the reference formulas order more pages than our own score


class JudgedIndex:
    """An index whose documents have the names that judgements use."""

    def __init__(self, collection: Collection, ids: Sequence[str] | None = None) -> None:
        """*ids*: the names of the documents by number; None: the documents are pages, named by their URLs."""
        self._collection, self._ids = collection, ids
        self._keys: dict[int, str] = {}

    @contextmanager
    def engine(self, settings: Settings) -> Iterator[SearchEngine]:
        """An engine with these settings."""
        engine = SearchEngine.open(self._collection, settings)
        try:
            yield engine
        finally:
            engine.close()

    @property
    def size(self) -> int | None:
        """The number of documents in the file; None for a collection."""
        return None if self._ids is None else len(self._ids)

    @property
    def key(self) -> Callable[[str], str]:
        """Makes the names of documents in judgements comparable."""
        return str if self._ids is not None else address_key

    def name(self, number: int, engine: SearchEngine) -> str:
        """The name of a document, as people read it."""
        return self._ids[number] if self._ids is not None else engine.pages.head(number).url

    def key_of(self, number: int, engine: SearchEngine) -> str:
        """The comparable name of a document."""
        if number not in self._keys:
            self._keys[number] = self.key(self.name(number, engine))
        return self._keys[number]

    def figures(self, query: JudgedQuery, numbers: Iterable[int], scale: Scale, engine: SearchEngine) -> Figures:
        """The figures of the results of a query; results with the same comparable name count once."""
        keys = dict.fromkeys(self.key_of(number, engine) for number in numbers)
        return figures([query.grades.get(key, 0) for key in keys], query.grades.values(), scale)

    def is_indexed(self, name: str, engine: SearchEngine) -> bool:
        """Whether the index has the document that judgements call *name*."""
        if self._ids is not None:
            return name in self._ids
        try:
            return engine.pages.find(parse(name).text) is not None
        except BadUrl:
            return False


@contextmanager
def open_judged_index(home: Path, documents: Path | None, settings: Settings) -> Iterator[JudgedIndex]:
    """The index of a collection, or of a file of documents."""
    if documents is None:
        yield JudgedIndex(open_collection(home))
        return
    with indexed_documents(documents, settings.index) as found:
        yield JudgedIndex(found.collection, found.ids)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The figures of one profile."""

    profile: str
    per_query: Mapping[str, Figures]
    groups: Mapping[str, Sequence[str]]  # the ids of queries by class and language

    @property
    def means(self) -> Figures:
        """The means over all queries."""
        return mean_figures(self.per_query.values())

    @property
    def group_means(self) -> dict[str, Figures]:
        """The means by class and language."""
        return {name: mean_figures(self.per_query[one] for one in ids) for name, ids in self.groups.items()}

    def compared(self, base: Evaluation) -> dict[str, Comparison]:
        """How this profile differs from another, by metric."""
        return {
            name: compare(*([row[name] for row in one.per_query.values()] for one in (base, self))) for name in METRICS
        }


def evaluate(
    index: JudgedIndex, judgements: Judgements, profiles: Sequence[str], settings: Settings
) -> dict[str, Evaluation]:
    """The figures of each profile; `default` is the ranking with the weights of *settings*."""
    references = [profile for profile in profiles if profile != OURS]
    found: dict[str, dict[str, Figures]] = {profile: {} for profile in profiles}
    if OURS in profiles:
        with index.engine(settings) as engine:
            for query in judgements.queries:
                numbers = [one.number for one in engine.features(query.text, DEPTH)]
                found[OURS][query.id] = index.figures(query, numbers, judgements.scale, engine)
    if references:
        more = settings.ranking.model_copy(update={"candidates": _REFERENCE_CANDIDATES})
        with index.engine(settings.model_copy(update={"ranking": more})) as engine:
            collection = CollectionFigures(engine.index)
            for query in judgements.queries:
                for profile, numbers in _by_references(engine, collection, query.text, references).items():
                    found[profile][query.id] = index.figures(query, numbers, judgements.scale, engine)
    return {profile: Evaluation(profile, found[profile], judgements.groups()) for profile in profiles}


def _by_references(
    engine: SearchEngine, collection: CollectionFigures, text: str, profiles: Sequence[str]
) -> dict[str, list[int]]:
    """The numbers of the results by profile."""
    candidates = engine.candidates(text)
    if candidates is None:
        return {profile: [] for profile in profiles}
    matched = Matched(engine.index, collection, _plain_terms(engine, text), candidates)
    return {profile: ranked(matched, profile)[:DEPTH] for profile in profiles}


def _plain_terms(engine: SearchEngine, text: str) -> QueryTerms:
    """All words of a text without its stop words; operators of the query language are words here."""
    words = [*split(blanked(text)), *pieces(text)]
    language = query_language(words, engine.counts)
    kept = [word for word in words if word not in language.ignored]
    return QueryTerms(kept, engine.index.forward, language.possible)


def as_json(evaluation: Evaluation, base: Evaluation | None = None) -> dict[str, Any]:
    """The figures of a profile, and its comparison with another."""
    found: dict[str, Any] = {"profile": evaluation.profile, **evaluation.means, "queries": len(evaluation.per_query)}
    found["classes"] = {
        name: {**means, "queries": len(evaluation.groups[name])} for name, means in evaluation.group_means.items()
    }
    found["per_query"] = dict(evaluation.per_query)
    if base is not None:
        found["compared"] = {name: one._asdict() for name, one in evaluation.compared(base).items()}
    return found
