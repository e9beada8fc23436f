"""Finds the pages of a query by a scan of every word of every page, without an index.

The rules, as they are documented: a page is searched in its own language; a word stands in any field of a page, in the
form its language gives it, or among its code-like tokens; a word of several terms is a phrase, unless any word of the
query suffices; stop words count in phrases, in exclusions, and when the query has no other word; `site:` means a host
and all hosts below it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from periplus.search.query import And, Node, Not, Or, Phrase, Site, Word, wanted_words
from periplus.text.analyzer import OTHER, is_stop_word, language_of, tokens, url_words
from periplus.text.code_tokens import code_tokens
from periplus.url import host_of
from search.library import Doc

_GAP = 1  # places between two values of one field

Field = dict[str, set[int]]  # the places of every term


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

    def found(self, root: Node, mode: str) -> frozenset[str]:
        """The pages that a query finds."""
        node = _any_word_suffices(root) if mode == "or" else root
        return frozenset[str]().union(*(scan.found(node) for scan in self._scans))


class _LanguageScan:
    """The pages of one language."""

    def __init__(self, language: str, docs: Iterable[Doc]) -> None:
        self._language = language
        self._fields: dict[str, list[tuple[str, Field]]] = {}
        self._codes: dict[str, set[str]] = {}
        for doc in docs:
            values = [[doc.title], [doc.description, doc.keywords, *doc.headings], [doc.text]]
            own = [(language, _field(language, value)) for value in values]
            self._fields[doc.url] = [*own, (OTHER, _field(OTHER, [url_words(doc.url)]))]
            parts = [part for value in values for part in value]
            self._codes[doc.url] = {token for part in parts for token in code_tokens(part).split()}
        self._everything = frozenset(self._fields)

    def found(self, root: Node) -> frozenset[str]:
        only_stop_words = all(is_stop_word(self._language, text) for text in wanted_words(root))
        meaning = self._meaning(root, only_stop_words)
        return frozenset() if meaning is None or meaning.kind == "not" else meaning.pages

    def _meaning(self, node: Node, literal: bool) -> Meaning | None:
        match node:
            case Word(text):
                ignored = not literal and is_stop_word(self._language, text)
                return None if ignored else self._with_words(text)
            case Phrase(text):
                return self._with_words(text)
            case Site(name):
                hosts = {url: host_of(url) for url in self._everything}
                below = [url for url, host in hosts.items() if host == name or host.endswith(f".{name}")]
                return Meaning("must", frozenset(below))
            case Not(inner):
                meaning = self._meaning(inner, True)
                if meaning is None:
                    return None
                return Meaning("must" if meaning.kind == "not" else "not", meaning.pages)
            case And(nodes):
                return self._all(self._meanings(nodes, literal))
            case Or(nodes):
                return self._any(self._meanings(nodes, literal))

    def _meanings(self, nodes: Iterable[Node], literal: bool) -> list[Meaning]:
        return [meaning for node in nodes if (meaning := self._meaning(node, literal)) is not None]

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
        phrases = {language: tokens(language, text) for language in (self._language, OTHER)}
        codes = set(code_tokens(text).split())
        if not any(phrases.values()) and not codes:
            return None
        pages = frozenset(
            url
            for url, fields in self._fields.items()
            if codes & self._codes[url] or any(_stands_in(field, [*phrases[language]]) for language, field in fields)
        )
        return Meaning("must", pages)


def _field(language: str, values: Iterable[str]) -> Field:
    places: Field = {}
    start = 0
    for value in filter(None, values):
        found = tokens(language, value)
        for term, place in found:
            places.setdefault(term, set()).add(start + place)
        start += (found[-1].position + 1 if found else 0) + _GAP
    return places


def _stands_in(field: Field, phrase: list[tuple[str, int]]) -> bool:
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
    for node in root.nodes if isinstance(root, And) else [root]:
        if isinstance(node, Not | Site):
            others.append(node)
        else:
            parts = re.sub(r"[\W_]", " ", node.text).split() if isinstance(node, Word) else []
            wanted += [*map(Word, parts), node] if parts else [node]
    return And((Or(tuple(wanted)), *others)) if wanted else root
