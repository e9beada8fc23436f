"""Answers questions such as `what is a mutex` with a sentence of a page that defines the word.

The sentence comes from the best results of the word. The box names the page and links to it.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import NamedTuple

from periplus.model import FullText
from periplus.search.missing_shards import tracking_missing
from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.boxes import Unavailable
from periplus.web.boxes.definition_rules import definition
from periplus.web.display import visible, web_link
from periplus.web.engine_port import Engine

_PAGES = 15  # results that are read
_SURE = 2.5  # points of a sentence that ends the search
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
_VERBS = {
    "en": ("is a", "is an"),
    "de": ("ist ein", "ist eine"),
    "fr": ("est un", "est une"),
    "es": ("es un", "es una"),
}
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
        """*work* runs a function in a thread: `SearchQueue.work_if_free`."""
        self._engine, self._work = engine, work

    async def make(self, question: Question) -> Box | None:
        """The box for a search; None when it asks for no definition, or no page has one."""
        asked = _asked(question.query)
        return await self._work(lambda: self._of_all_shards(asked)) if asked else None

    def _of_all_shards(self, asked: _Asked) -> Box | None:
        """Runs in a thread: the box; while a shard is missing, another one may follow, so the page is not stored."""
        with tracking_missing() as missing:
            box = self._find(asked)
        if missing and box is None:
            raise Unavailable("a shard of the index is missing")
        return replace(box, lifetime=0.0) if missing and box is not None else box

    def _find(self, asked: _Asked) -> Box | None:
        """The best definition among the results of the word and of a phrase such as "mutex is a"."""
        best: tuple[float, str, FullText] | None = None
        for query in (f"{asked.term} {asked.context}".strip(), _phrases(asked)):
            for place, page in enumerate(self._engine.best_texts(query, _PAGES)):
                found = definition(asked.term, page) if page.language == asked.language else None
                if found is not None and (best is None or found.points - _LOWER * place > best[0]):
                    best = found.points - _LOWER * place, found.text, page
            if best is not None and best[0] >= _SURE:
                break
        return _box(asked.term, best[1], best[2]) if best is not None else None


def _phrases(asked: _Asked) -> str:
    """A query for pages with the beginning of a definition."""
    verbs = _VERBS[asked.language]
    phrases = " OR ".join(f'"{asked.term} {verb}"' for verb in verbs)
    return f"({phrases}) {asked.context}".strip()


def _asked(query: str) -> _Asked | None:
    """The word of a question; None for other searches."""
    if len(query) > _LONGEST:
        return None
    text = " ".join(query.split()).rstrip("?! ")
    found = ((language, form.fullmatch(text)) for language, form in _QUESTIONS)
    language, match = next(((language, match) for language, match in found if match), ("", None))
    if match is None or not any(map(str.isalpha, match["term"])):
        return None
    narrowed = _CONTEXT.fullmatch(match["term"])
    return _Asked(narrowed[1], narrowed[2], language) if narrowed else _Asked(match["term"], "", language)


def _box(term: str, sentence: str, page: FullText) -> Box:
    values = {
        "term": visible(term),
        "sentence": visible(sentence),
        "title": visible(page.title),
        "link": web_link(page.url),
        "host": visible(page.host),
        "language": page.language,
    }
    return Box("boxes/definition.html", values)
