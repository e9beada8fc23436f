"""Compiles a parsed query into a tantivy query for the pages of one language.

A word is searched in every field of the language, in the form that the language's analyzer indexes, and in the fields
that all languages share: the words of the URL, and code-like tokens. Stop words are ignored unless they are quoted or
excluded, or the query has no other word.
"""

from __future__ import annotations

from tantivy import Occur, Query, Schema

from periplus.config import Ranking
from periplus.index.schema import CODE, FIELD_LANGUAGE, FULL_BARREL, SITE, URL_WORDS, field
from periplus.search.query import And, Node, Not, Or, Phrase, Site, Word, wanted_words
from periplus.text.analyzer import OTHER, Token, is_stop_word, tokens
from periplus.text.code_tokens import code_tokens

_BARE_WORD = 0.2  # weight of "c" in a search for C++, so that C++ pages come first

_Clause = tuple[Occur, Query]


class Compiler:
    """Builds tantivy query objects; tantivy's own query parser is never used."""

    def __init__(self, schema: Schema, weights: Ranking, language: str, share: float = 1.0) -> None:
        """*share* of all pages are in this language."""
        self._schema, self._language = schema, language
        factor = _length_correction(share)
        self._weights = {field(name, language): factor * getattr(weights, f"field_{name}") for name in FULL_BARREL}
        self._url_weight, self._code_weight = weights.field_url, weights.field_code

    def compile(self, node: Node) -> Query | None:
        """The tantivy query, or None when the query has no searchable word."""
        literal = all(is_stop_word(self._language, text) for text in wanted_words(node))
        clause = self._clause(node, literal=literal)
        if clause is None or clause[0] is Occur.MustNot:
            return None
        pages = Query.const_score_query(Query.term_query(self._schema, FIELD_LANGUAGE, self._language), 0.0)
        return Query.boolean_query([(Occur.Must, clause[1]), (Occur.Must, pages)])

    def _clause(self, node: Node, *, literal: bool) -> _Clause | None:
        """The tantivy query of one node, with whether it is required or excluded; *literal* keeps stop words."""
        match node:
            case Word(text) if not literal and is_stop_word(self._language, text):
                return None
            case Word(text) | Phrase(text):
                return self._words(text)
            case Site(host):
                query = Query.term_query(self._schema, SITE, host)
                return Occur.Must, Query.const_score_query(query, 0.0)
            case Not(inner):
                return _negated(self._clause(inner, literal=True))
            case And(nodes):
                return _all_of(self._clauses(nodes, literal=literal))
            case Or(nodes):
                return _any_of(self._clauses(nodes, literal=literal))

    def _clauses(self, nodes: tuple[Node, ...], *, literal: bool) -> list[_Clause]:
        return [clause for part in nodes if (clause := self._clause(part, literal=literal)) is not None]

    def _words(self, text: str) -> _Clause | None:
        words = tokens(self._language, text)
        codes = code_tokens(text).split()
        factor = _BARE_WORD if codes and len(words) == 1 else 1.0
        fields = [(name, factor * weight, words) for name, weight in self._weights.items()]
        fields.append((URL_WORDS, factor * self._url_weight, tokens(OTHER, text)))
        queries = [self._in_field(name, found, weight) for name, weight, found in fields if found and weight > 0]
        queries += [self._as_written(code) for code in codes if self._code_weight > 0]
        if not queries:
            return None
        return Occur.Must, Query.boolean_query([(Occur.Should, query) for query in queries])

    def _as_written(self, code: str) -> Query:
        """A constant score: tantivy's would be low wherever few pages have code."""
        return Query.const_score_query(Query.term_query(self._schema, CODE, code), self._code_weight)

    def _in_field(self, name: str, words: list[Token], weight: float) -> Query:
        if len(words) == 1:
            query = Query.term_query(self._schema, name, words[0].term)
        else:
            first = words[0].position
            query = Query.phrase_query(self._schema, name, [(word.position - first, word.term) for word in words])
        return query if weight == 1.0 else Query.boost_query(query, weight)


def _length_correction(share: float) -> float:
    """The factor for scores of a language's fields, which only *share* of all pages fill.

    tantivy divides the words of a field by all pages, so these pages seem long to BM25 (k1 = 1.2, b = 0.75), and their
    scores are too low. In return their words seem rare. About the cube root of the first effect did best
    on the judged queries (powers tried: 0, 0.3, 0.5, 1).
    """
    too_low = (1.0 + 1.2 * (0.25 + 0.75 / share)) / 2.2
    return float(too_low ** (1 / 3))


def _negated(clause: _Clause | None) -> _Clause | None:
    if clause is None:
        return None
    occur, query = clause
    return (Occur.Must if occur is Occur.MustNot else Occur.MustNot), query


def _all_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    if all(occur is Occur.MustNot for occur, _ in clauses):
        return Occur.MustNot, Query.boolean_query([(Occur.Should, query) for _, query in clauses])
    return Occur.Must, Query.boolean_query(clauses)


def _any_of(clauses: list[_Clause]) -> _Clause | None:
    if not clauses:
        return None
    return Occur.Must, Query.boolean_query([(Occur.Should, _positive(clause)[1]) for clause in clauses])


def _positive(clause: _Clause) -> _Clause:
    """A required clause; an exclusion becomes "all pages except those"."""
    occur, query = clause
    if occur is Occur.MustNot:
        everything = Query.const_score_query(Query.all_query(), 0.0)
        return Occur.Must, Query.boolean_query([(Occur.Must, everything), (Occur.MustNot, query)])
    return Occur.Must, query
