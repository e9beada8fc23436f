"""Compiles a parsed query into a tantivy query.

A word is searched in every field of every language, in the form that the language's analyzer indexes. A stop word is
not indexed in its own language, so no page is required to have it; it only adds to the score of pages that do.
"""

from __future__ import annotations

from tantivy import Occur, Query, Schema

from periplus.config import Ranking
from periplus.index.schema import FULL_BARREL, SITE, URL_WORDS, field
from periplus.search.query import And, Node, Not, Or, Phrase, Site, Word
from periplus.text.analyzer import LANGUAGES, OTHER, Token, tokens

_Clause = tuple[Occur, Query]


class Compiler:
    """Builds tantivy query objects; tantivy's own query parser is never used."""

    def __init__(self, schema: Schema, weights: Ranking) -> None:
        self._schema = schema
        self._weights = {name: getattr(weights, f"field_{name}") for name in FULL_BARREL}
        self._url_weight = weights.field_url

    def compile(self, node: Node) -> Query | None:
        """The tantivy query, or None when the query has no searchable word."""
        clause = self._clause(node)
        return None if clause is None or clause[0] is Occur.MustNot else Query.boolean_query([(Occur.Must, clause[1])])

    def _clause(self, node: Node) -> _Clause | None:
        """The tantivy query of one node, with whether it is required, optional or excluded."""
        match node:
            case Word(text) | Phrase(text):
                return self._words(text)
            case Site(host):
                query = Query.term_query(self._schema, SITE, host)
                return Occur.Must, Query.const_score_query(query, 0.0)
            case Not(inner):
                return _negated(self._clause(inner))
            case And(nodes):
                return _all_of([clause for part in nodes if (clause := self._clause(part)) is not None])
            case Or(nodes):
                return _any_of([clause for part in nodes if (clause := self._clause(part)) is not None])

    def _words(self, text: str) -> _Clause | None:
        found = {language: tokens(language, text) for language in LANGUAGES}
        fields = [
            (field(name, language), self._weights[name], words)
            for language, words in found.items()
            for name in FULL_BARREL
        ]
        fields.append((URL_WORDS, self._url_weight, found[OTHER]))
        queries = [self._in_field(name, words, weight) for name, weight, words in fields if words and weight > 0]
        if not queries:
            return None
        required = all(found.values())
        return (Occur.Must if required else Occur.Should), Query.boolean_query([(Occur.Should, q) for q in queries])

    def _in_field(self, name: str, words: list[Token], weight: float) -> Query:
        if len(words) == 1:
            query = Query.term_query(self._schema, name, words[0].term)
        else:
            first = words[0].position
            query = Query.phrase_query(self._schema, name, [(word.position - first, word.term) for word in words])
        return query if weight == 1.0 else Query.boost_query(query, weight)


def _negated(clause: _Clause | None) -> _Clause | None:
    if clause is None:
        return None
    occur, query = clause
    return (Occur.Must if occur is Occur.MustNot else Occur.MustNot), query


def _all_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    kinds = {occur for occur, _ in clauses}
    if kinds == {Occur.MustNot}:
        return Occur.MustNot, Query.boolean_query([(Occur.Should, query) for _, query in clauses])
    strength = Occur.Must if Occur.Must in kinds else Occur.Should
    return strength, Query.boolean_query(clauses)


def _any_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    kinds = {occur for occur, _ in clauses}
    strength = Occur.Should if kinds == {Occur.Should} else Occur.Must
    return strength, Query.boolean_query([(Occur.Should, _positive(clause)[1]) for clause in clauses])


def _positive(clause: _Clause) -> _Clause:
    """A required clause; an exclusion becomes "all pages except those"."""
    occur, query = clause
    if occur is Occur.MustNot:
        everything = Query.const_score_query(Query.all_query(), 0.0)
        return Occur.Must, Query.boolean_query([(Occur.Must, everything), (Occur.MustNot, query)])
    return Occur.Must, query
