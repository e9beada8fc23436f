"""Finds the pages of a query by a scan of every word of every page, without an index.

The rules, as they are documented: a page is searched in its own language; a word stands in any field of a page, in the
form its language gives it, or among its code-like tokens; a word of several terms is a phrase, unless any word of the
query suffices; a code-like token of one term must stand on the page as written; stop words of the query's language
count in phrases, in exclusions, with a plus, and when the query has no other word; `site:` means a host and all hosts
below it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple

from periplus.search.query.tree import And, Field, Node, Not, Or, Phrase, Required, Site, Word
from periplus.text.analyzer import OTHER, Token, language_of, url_words
from periplus.text.analyzer import tokens as analyzed
from periplus.text.code_tokens import code_tokens
from periplus.url import host_of
from search.library import Doc

_GAP = 1  # places between two values of one field

Places = dict[str, set[int]]  # of every term


class Meaning(NamedTuple):
    """The pages that match a part of a query, and whether a page must or must not be among them."""

    kind: str  # must, not
    pages: frozenset[str]


class PageScan:
    """Pages, taken apart once."""

    def __init__(self, docs: Iterable[Doc]) -> None:
        pages = list(docs)
        by_language = {language_of(doc.language): [] for doc in pages}  # type: dict[str, list[Doc]]
        for doc in pages:
            by_language[language_of(doc.language)].append(doc)
        self._scans = [_LanguageScan(language, docs) for language, docs in by_language.items()]

    def found(self, root: Node, mode: str, ignored: frozenset[str]) -> frozenset[str]:
        """The pages that a query finds; *ignored* are its stop words."""
        node = _any_word_suffices(root) if mode == "or" else root
        return frozenset[str]().union(*(scan.found(node, ignored) for scan in self._scans))


class _LanguageScan:
    """The pages of one language."""

    def __init__(self, language: str, docs: Iterable[Doc]) -> None:
        self._language = language
        self._fields: dict[str, list[tuple[str, Places]]] = {}
        self._codes: dict[str, set[str]] = {}
        self._docs: dict[str, Doc] = {}
        for doc in docs:
            values = [[doc.title], [doc.description, doc.keywords, *doc.headings], [doc.text]]
            own = [(language, _field(language, value)) for value in values]
            self._fields[doc.url] = [*own, (OTHER, _field(OTHER, [url_words(doc.url)]))]
            parts = [part for value in values for part in value]
            self._codes[doc.url] = {token for part in parts for token in code_tokens(part).split()}
            self._docs[doc.url] = doc
        self._everything = frozenset(self._fields)

    def found(self, root: Node, ignored: frozenset[str]) -> frozenset[str]:
        meaning = self._meaning(root, ignored)
        return frozenset() if meaning is None or meaning.kind == "not" else meaning.pages

    def _meaning(self, node: Node, ignored: frozenset[str]) -> Meaning | None:
        match node:
            case Word(text):
                return None if text in ignored else self._with_words(text)
            case Phrase(text):
                return self._with_words(text)
            case Site(name, path):
                return self._where(lambda doc: _is_below(doc.url, name, path))
            case Field(operator, value):
                return self._with_property(operator, value)
            case Required(inner):
                return self._meaning(inner, frozenset())
            case Not(inner):
                meaning = self._meaning(inner, frozenset())
                if meaning is None:
                    return None
                return Meaning("must" if meaning.kind == "not" else "not", meaning.pages)
            case And(nodes):
                return self._all(self._meanings(nodes, ignored))
            case Or(nodes):
                return self._any(self._meanings(nodes, ignored))

    def _meanings(self, nodes: Iterable[Node], ignored: frozenset[str]) -> list[Meaning]:
        return [meaning for node in nodes if (meaning := self._meaning(node, ignored)) is not None]

    def _where(self, holds: Callable[[Doc], bool]) -> Meaning:
        return Meaning("must", frozenset(url for url, doc in self._docs.items() if holds(doc)))

    def _with_property(self, operator: str, value: str) -> Meaning | None:
        if operator in {"intitle", "inurl"}:
            place, language = (0, self._language) if operator == "intitle" else (-1, OTHER)
            words = tokens(language, value)
            codes = {code for code in code_tokens(value).split() if len(tokens(OTHER, code)) < 2 and place == 0}
            pages = [url for url, fields in self._fields.items() if _stands_in(fields[place][1], [*words])]
            return Meaning("must", frozenset(url for url in pages if codes <= self._codes[url])) if words else None
        if operator == "filetype":
            return self._where(lambda doc: _TYPES[doc.mime] == value)
        if operator == "lang":
            return self._where(lambda doc: doc.language == value)
        day = datetime.fromisoformat(f"{value}-01-01"[:10] + "T00:00:00+00:00").timestamp()
        return self._where(lambda doc: (doc.at >= day) is (operator == "after"))

    def _all(self, parts: list[Meaning]) -> Meaning | None:
        if not parts:
            return None
        must, excluded = ([part.pages for part in parts if part.kind == kind] for kind in ("must", "not"))
        unwanted = frozenset[str]().union(*excluded)
        if must:
            return Meaning("must", self._everything.intersection(*must) - unwanted)
        return Meaning("not", unwanted)

    def _any(self, parts: list[Meaning]) -> Meaning | None:
        if not parts:
            return None
        return Meaning("must", frozenset[str]().union(*map(self._looked_for, parts)))

    def _looked_for(self, meaning: Meaning) -> frozenset[str]:
        return self._everything - meaning.pages if meaning.kind == "not" else meaning.pages

    def _with_words(self, text: str) -> Meaning | None:
        phrases = {language: [*tokens(language, text)] for language in (self._language, OTHER)}
        codes = code_tokens(text).split()
        if not any(phrases.values()) and not codes:
            return None
        return Meaning("must", frozenset(url for url in self._fields if self._has(url, phrases, codes)))

    def _has(self, url: str, phrases: dict[str, list[Token]], codes: list[str]) -> bool:
        on_page = self._codes[url]
        if codes and len(phrases[self._language]) < 2:
            return on_page.issuperset(codes)
        lost = [code for code in codes if len(tokens(OTHER, code)) < 2]  # without its marks, such a token is another
        whole = len(codes) == 1 and len(tokens(OTHER, codes[0])) == len(phrases[self._language])
        stands = any(_stands_in(field, phrases[language]) for language, field in self._fields[url])
        return on_page.issuperset(lost) and (stands or (whole and codes[0] in on_page))


_TYPES = {"text/html": "html", "application/pdf": "pdf", "text/plain": "text", "application/rss+xml": "feed"}


def tokens(language: str, text: str) -> tuple[Token, ...]:
    """The terms of a text; short texts are analysed once."""
    return _tokens(language, text) if len(text) < 100 else tuple(analyzed(language, text))


@lru_cache(maxsize=100_000)
def _tokens(language: str, text: str) -> tuple[Token, ...]:
    return tuple(analyzed(language, text))


def _is_below(url: str, name: str, path: str) -> bool:
    host = host_of(url)
    if host != name and not host.endswith(f".{name}"):
        return False
    words, wanted = ([term for term, _ in analyzed(OTHER, url_words(text))] for text in (url, f"//{name}{path}"))
    return not path or any(words[at : at + len(wanted)] == wanted for at in range(len(words)))


def _field(language: str, values: Iterable[str]) -> Places:
    places: Places = {}
    start = 0
    for value in filter(None, values):
        found = analyzed(language, value)
        for term, place in found:
            places.setdefault(term, set()).add(start + place)
        start += (found[-1].position + 1 if found else 0) + _GAP
    return places


def _stands_in(field: Places, phrase: list[Token]) -> bool:
    if not phrase:
        return False
    first, start = phrase[0]
    return any(
        all(place + offset - start in field.get(term, ()) for term, offset in phrase) for place in field.get(first, ())
    )


def _any_word_suffices(root: Node) -> Node:
    """At the top of a query, one of the wanted words is enough, or a part of one; exclusions and site: still hold."""
    wanted: list[Node] = []
    others: list[Node] = []
    required: list[Node] = []
    for node in root.nodes if isinstance(root, And) else [root]:
        if isinstance(node, Not | Site | Field | Required):
            others.append(node)
            required += [node.node] if isinstance(node, Required) else []
        else:
            parts = re.sub(r"[\W_]", " ", node.text).split() if isinstance(node, Word) else []
            wanted += [*map(Word, parts), node] if parts else [node]
    return And((Or((*wanted, *required)), *others)) if wanted else root
