"""Compiles a parsed query into a tantivy query for the pages of one language.

A word is searched in every field of the language, in the form that the language's analyzer indexes, among the unstemmed
words of the URL, and in the field that all languages share: code-like tokens. Stop words of the query's language are
ignored unless they are quoted, required or excluded.

Terms that no document has are left out. Most words of a query are in the pages of one language, and an index has pages
of several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol

from tantivy import FieldType, Occur, Query, Schema

from periplus.config import Ranking
from periplus.index.documents.facets import DATE, LANGUAGE, TYPE, number_of_name
from periplus.index.documents.schema import CODE, FIELD_LANGUAGE, FULL_BARREL, SITE, URL_WORDS, field
from periplus.search.query.operators import seconds_of
from periplus.search.query.tree import (
    And,
    Field,
    Node,
    Not,
    Or,
    Phrase,
    Required,
    Site,
    Word,
    has_only_words,
    wanted_words,
)
from periplus.text.analyzer import OTHER, Token, tokens, url_words
from periplus.text.code_tokens import code_tokens

_CACHED = 512  # words
_CACHED_TERMS = 8_192
_Clause = tuple[Occur, Query]
_NONE = frozenset[str]()


class Idf(Protocol):
    """Corrects the scores of terms in an index that has only some of the documents, for one request.

    Each object is equal to itself only, so that the clauses of one request are never used for another.
    """

    def __hash__(self) -> int: ...

    def factor(self, field: str, terms: Sequence[str]) -> float:
        """The factor for the score of a term, or of a phrase, so that it is that of the whole collection."""
        ...


def _unknown_frequency(name: str, term: str) -> int:
    """Every term may have documents."""
    del name, term
    return 1


class _Terms(NamedTuple):
    """The terms of a word or phrase in a field."""

    field: str
    words: list[Token]
    weight: float


class _TermQuery(NamedTuple):
    """A term or phrase in a field."""

    field: str
    terms: list[str]
    weight: float
    bare: Query  # without the weight
    weighted: Query

    def corrected(self, idf: Idf | None) -> Query:
        """The query with its weight, and with the correction by *idf*, if any."""
        factor = 1.0 if idf is None else idf.factor(self.field, self.terms)
        return self.weighted if factor == 1.0 else Query.boost_query(self.bare, self.weight * factor)


class Compiler:
    """Builds tantivy query objects; tantivy's own query parser is never used."""

    def __init__(
        self,
        schema: Schema,
        weights: Ranking,
        language: str,
        share: float = 1.0,
        frequency: Callable[[str, str], int] = _unknown_frequency,
    ) -> None:
        """*share* of all pages are in this language; *frequency*: the number of documents with a term of a field."""
        self._schema, self._language = schema, language
        self._frequency = lru_cache(_CACHED_TERMS)(frequency)
        factor = _length_correction(share)
        self._weights = {field(name, language): factor * getattr(weights, f"field_{name}") for name in FULL_BARREL}
        self._url, self._url_weight = field(URL_WORDS, language), factor * weights.field_url
        self._code_weight = weights.field_code
        self._words = lru_cache(_CACHED)(self._word_clause)  # a search compiles its words several times
        self._terms = lru_cache(_CACHED)(self._term_queries)

    def compile(self, node: Node, ignored: frozenset[str], idf: Idf | None = None) -> Query | None:
        """The tantivy query, or None when the query has no searchable word; *ignored* are its stop words.

        All matches of a query without a word, such as `site:example.org`, have the same score. So the best pages by
        rank come first. *idf*: that of the whole collection, when the index has only some of the documents.
        """
        clause = self._clause(node, ignored, idf)
        if clause is None or clause[0] is Occur.MustNot:
            return None
        if has_only_words(node):
            return clause[1]
        return self._own_pages(clause[1] if wanted_words(node) else Query.const_score_query(clause[1], 1.0))

    def any_of(self, words: Iterable[str], ignored: frozenset[str], idf: Idf | None = None) -> Query | None:
        """The pages with any of the words, as one union of terms, which tantivy searches fastest.

        None when a word has several terms or marks.
        """
        found = [self._terms(word) for word in dict.fromkeys(words) if word not in ignored]
        known = [queries for queries in found if queries is not None]
        if not found or len(known) < len(found):
            return None
        return _some([query.corrected(idf) for queries in known for query in queries])

    def _own_pages(self, query: Query) -> Query:
        """Only the pages of this language."""
        return _every([query, _unscored(Query.term_query(self._schema, FIELD_LANGUAGE, self._language))])

    def _clause(self, node: Node, ignored: frozenset[str], idf: Idf | None) -> _Clause | None:
        """The tantivy query of one node, with whether it is required or excluded."""
        match node:
            case Word(text) | Phrase(text):
                return None if isinstance(node, Word) and text in ignored else self._words(text, idf)
            case Site(host, path):
                return self._site(host, path)
            case Field(operator, value):
                return self._property(operator, value, idf)
            case Required(inner):
                return self._clause(inner, _NONE, idf)
            case Not(inner):
                return _negated(self._clause(inner, _NONE, None))
            case And(nodes):
                return _all_of(self._clauses(nodes, ignored, idf))
            case Or(nodes):
                return _any_of(self._clauses(nodes, ignored, idf))

    def _clauses(self, nodes: tuple[Node, ...], ignored: frozenset[str], idf: Idf | None) -> list[_Clause]:
        """Of each part once: tantivy would search a repeated phrase again."""
        clauses = (self._clause(part, ignored, idf) for part in dict.fromkeys(nodes))
        return [clause for clause in clauses if clause is not None]

    def _word_clause(self, text: str, idf: Idf | None) -> _Clause | None:
        """A word or phrase in any field. Fields of one language have only pages of that language.

        A code-like token of one term, such as `C++`, must be on the page as written: its term alone would find C, too.
        """
        words, in_url, codes = tokens(self._language, text), tokens(OTHER, text), code_tokens(text).split()
        fields = self._fields(words, in_url)
        queries = [self._term_query(terms).corrected(idf) for terms in fields if self._has_documents(terms)]
        is_code = len(codes) == 1 and len(tokens(OTHER, codes[0])) == len(words)
        if is_code:
            queries.append(self._own_pages(self._as_written(codes[0], self._code_weight)))
        if not fields and not is_code:
            return None
        return Occur.Must, _every([_some(queries), *self._one_term_codes(codes)])

    def _term_queries(self, word: str) -> list[_TermQuery] | None:
        """A word of one term in each field that has it; None for other words, and for code-like tokens."""
        words, in_url = tokens(self._language, word), tokens(OTHER, word)
        if len(words) != 1 or len(in_url) != 1 or code_tokens(word):
            return None
        return [self._term_query(terms) for terms in self._fields(words, in_url) if self._has_documents(terms)]

    def _fields(self, words: list[Token], in_url: list[Token]) -> list[_Terms]:
        """The terms of a word or phrase in every field that counts."""
        fields = [_Terms(name, words, weight) for name, weight in self._weights.items()]
        fields.append(_Terms(self._url, in_url, self._url_weight))
        return [terms for terms in fields if terms.words and terms.weight > 0]

    def _has_documents(self, terms: _Terms) -> bool:
        """Whether any document may match."""
        return all(self._frequency(terms.field, word.term) for word in terms.words)

    def _one_term_codes(self, codes: Iterable[str]) -> list[Query]:
        return [self._as_written(code, 0.0) for code in codes if len(tokens(OTHER, code)) < 2]

    def _as_written(self, code: str, weight: float) -> Query:
        """A constant score: tantivy's would be low wherever few pages have code."""
        return Query.const_score_query(Query.term_query(self._schema, CODE, code), weight)

    def _site(self, host: str, path: str) -> _Clause:
        queries = [Query.term_query(self._schema, SITE, host)]
        if path and len(words := tokens(OTHER, url_words(f"//{host}{path}"))) > 1:
            queries.append(self._in_field(self._url, words, 1.0))
        return Occur.Must, _unscored(_every(queries))

    def _property(self, operator: str, value: str, idf: Idf | None) -> _Clause | None:
        """The pages with the property that an operator names."""
        words = tokens(self._language if operator == "intitle" else OTHER, value)
        match operator:
            case "intitle" | "inurl" if not words:
                return None
            case "intitle":
                name = field("title", self._language)
                title = self._in_field(name, words, self._weights[name] or 1.0, idf)
                return Occur.Must, _every([title, *self._one_term_codes(code_tokens(value).split())])
            case "inurl":
                return Occur.Must, _unscored(self._in_field(self._url, words, 1.0))
            case "filetype" | "lang":
                name = TYPE if operator == "filetype" else LANGUAGE
                return Occur.Must, _unscored(Query.term_query(self._schema, name, number_of_name(value)))
            case _:
                return Occur.Must, _unscored(self._dated(operator, seconds_of(value)))

    def _dated(self, operator: str, seconds: int) -> Query:
        if operator == "after":
            return Query.range_query(self._schema, DATE, FieldType.Integer, lower_bound=seconds)
        return Query.range_query(self._schema, DATE, FieldType.Integer, upper_bound=seconds - 1)

    def _in_field(self, name: str, words: list[Token], weight: float, idf: Idf | None = None) -> Query:
        return self._term_query(_Terms(name, words, weight)).corrected(idf)

    def _term_query(self, terms: _Terms) -> _TermQuery:
        name, words, weight = terms
        if len(words) == 1:
            bare = Query.term_query(self._schema, name, words[0].term)
        else:
            first = words[0].position
            bare = Query.phrase_query(self._schema, name, [(word.position - first, word.term) for word in words])
        weighted = bare if weight == 1.0 else Query.boost_query(bare, weight)
        return _TermQuery(name, [word.term for word in words], weight, bare, weighted)


def _length_correction(share: float) -> float:
    """The factor for scores of a language's fields, which only *share* of all pages fill.

    tantivy divides the words of a field by all pages, so these pages seem long to BM25 (k1 = 1.2, b = 0.75), and their
    scores are too low. In return their words seem rare. About the cube root of the first effect did best
    on the judged queries (powers tried: 0, 0.3, 0.5, 1).
    """
    too_low = (1.0 + 1.2 * (0.25 + 0.75 / share)) / 2.2
    return float(too_low ** (1 / 3))


def _unscored(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)


def _every(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])


def _some(queries: list[Query]) -> Query:
    return Query.boolean_query([(Occur.Should, query) for query in queries])


def _negated(clause: _Clause | None) -> _Clause | None:
    if clause is None:
        return None
    occur, query = clause
    return (Occur.Must if occur is Occur.MustNot else Occur.MustNot), query


def _all_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    if all(occur is Occur.MustNot for occur, _ in clauses):
        return Occur.MustNot, _some([query for _, query in clauses])
    return Occur.Must, Query.boolean_query(clauses)


def _any_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    return Occur.Must, _some([_positive(clause)[1] for clause in clauses])


def _positive(clause: _Clause) -> _Clause:
    """A required clause; an exclusion becomes "all pages except those"."""
    occur, query = clause
    if occur is Occur.MustNot:
        everything = _unscored(Query.all_query())
        return Occur.Must, Query.boolean_query([(Occur.Must, everything), (Occur.MustNot, query)])
    return Occur.Must, query
