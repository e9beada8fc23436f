"""Measures the CPU time of each step of parsing a page."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import turbohtml

from periplus.model import Page, Response
from periplus.parse.charset import decode
from periplus.parse.extraction import Extraction
from periplus.parse.html.facts import read_facts
from periplus.parse.html.links import LinkCollector, LinkResolver
from periplus.parse.html.outline import Outline
from periplus.parse.language import detect
from periplus.parse.main_text.line_scores import BodyReader
from periplus.parse.page import PageParser
from periplus.parse.quality import assess
from periplus.text.simhash import simhash
from periplus.url import Canonicalizer

LINKS = 1_000  # a page
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Stopwatch:
    """Measures the CPU milliseconds per page of each step."""

    def __init__(self, pages: int) -> None:
        self._pages = pages
        self.steps: dict[str, float] = {}

    def run(self, step: str, work: Callable[[_Given], _Made], given: Iterable[_Given]) -> list[_Made]:
        """Runs one step for all pages."""
        started = time.process_time()
        made = [work(one) for one in given]
        self.steps[step] = round((time.process_time() - started) * 1e3 / self._pages, 4)
        return made


def responses(files: Sequence[tuple[str, Path]]) -> list[Response]:
    """The files as a server would send them."""
    headers = {"content-type": "text/html"}
    return [Response(url, 0.0, status=200, headers=headers, body=file.read_bytes()) for url, file in files]


def whole(answers: Sequence[Response]) -> dict[str, float]:
    """The full parse, and the links-only parse of a crawl, from bytes to page."""
    watch = Stopwatch(len(answers))
    watch.run("read", PageParser(Canonicalizer(), links_per_page=LINKS).parse, answers)
    watch.run("skim", PageParser(Canonicalizer(), links_per_page=LINKS).skim, answers)
    return watch.steps


def by_step(answers: Sequence[Response]) -> dict[str, float]:
    """Each step by itself, over all pages before the next one begins."""
    watch, canonicalizer = Stopwatch(len(answers)), Canonicalizer()
    folders, bodies = LinkResolver(canonicalizer), BodyReader()

    def links(place: int) -> None:
        collector = LinkCollector(folders.open(answers[place].url), LINKS)
        collector.add_anchors(documents[place])
        collector.links(nofollow=False)

    texts = watch.run("decode", lambda answer: decode(answer.body, "text/html"), answers)
    documents = watch.run("dom", lambda text: turbohtml.parse(text, positions=False, scripting=True), texts)
    watch.run("facts", lambda document: read_facts(document, Extraction("")), documents)
    watch.run("outline", lambda document: Outline(document, Extraction("")), documents)
    watch.run("links", links, range(len(answers)))
    watch.run("text", lambda document: document.to_text(), documents)
    found = watch.run("main", bodies.read, documents)
    pages = [Page(text=body.text, main=body.main) for body in found]
    watch.run("language", lambda page: detect(page.main_text), pages)
    watch.run("signature", lambda page: simhash(page.main_text), pages)
    watch.run("quality", lambda page: assess(page, size=30_000), pages)
    return watch.steps
