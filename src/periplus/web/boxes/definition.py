"""Answers questions such as `what is a mutex` with a sentence of a page that defines the word.

The sentence comes from the best results of the word. The box names the page and links to it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from periplus.model import Hit
from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.definition_rules import definition
from periplus.web.display import visible, web_link
from periplus.web.engine_port import Engine

_HITS = 15  # results that are read
_LOWER = 0.1  # points that a result loses by each place
_LONGEST = 80  # characters of a query
_TERM = r"(?P<term>[^\W_][\w+#.'’-]*(?: [\w+#.'’-]+){0,3})"
_QUESTIONS = tuple(
    (language, re.compile(form.replace("TERM", _TERM), re.IGNORECASE))
    for language, form in (
        ("en", r"(?:define|definition of|meaning of|what(?:'s|’s| is| are))(?: an?| the)? TERM"),
        ("en", r"what does TERM mean"),
        ("en", r"TERM (?:definition|meaning)"),
        ("de", r"(?:was (?:ist|sind|bedeutet)|definition(?: von)?|bedeutung von)(?: ein| eine| der| die| das)? TERM"),
        ("fr", r"(?:qu['’]est[ -]ce (?:que (?:le |la |les )?|qu['’](?:une? )?)|définition (?:de |d['’]))TERM"),
        ("es", r"¿?(?:qué (?:es|son)|definición de)(?: una?| el| la)? TERM"),
    )
)
_CONTEXT = re.compile(r"(.+) (?:in|im|en|dans) ([\w+#]+)")


class _Asked(NamedTuple):
    """A word that the reader wants to have defined."""

    term: str
    context: str  # such as `rust` in `what is a trait in rust`
    language: str


Work = Callable[[Callable[[], Box | None]], Awaitable[Box | None]]


class Definition:
    """Makes the box with a definition."""

    name = "definition"

    def __init__(self, engine: Engine, work: Work) -> None:
        """*work* runs a function in a thread."""
        self._engine, self._work = engine, work

    async def make(self, question: Question) -> Box | None:
        """The box for a search; None when it asks for no definition, or no page has one."""
        asked = _asked(question.query)
        return await self._work(lambda: self._find(asked)) if asked else None

    def _find(self, asked: _Asked) -> Box | None:
        """Runs in a thread: the best definition among the results."""
        query = f"{asked.term} {asked.context}".strip()
        hits = self._engine.search(query, size=_HITS, verbatim=True).hits
        texts = self._engine.texts([hit.url for hit in hits])
        candidates = []
        for place, (hit, text) in enumerate(zip(hits, texts, strict=True)):
            found = definition(asked.term, hit.title, text, hit.language) if hit.language == asked.language else None
            if found is not None:
                candidates.append((found.points - _LOWER * place, found.text, hit))
        if not candidates:
            return None
        _, sentence, hit = max(candidates, key=lambda one: one[0])
        return _box(asked.term, sentence, hit)


def _asked(query: str) -> _Asked | None:
    """The word of a question; None for other searches."""
    text = " ".join(query.split()).rstrip("?! ")
    if len(query) > _LONGEST:
        return None
    for language, form in _QUESTIONS:
        if found := form.fullmatch(text):
            term, context = found["term"], ""
            if narrowed := _CONTEXT.fullmatch(term):
                term, context = narrowed.groups()
            return _Asked(term, context, language)
    return None


def _box(term: str, sentence: str, hit: Hit) -> Box:
    values = {
        "term": visible(term),
        "sentence": visible(sentence),
        "title": visible(hit.title),
        "link": web_link(hit.url),
        "host": visible(hit.host),
    }
    return Box("boxes/definition.html", values)
