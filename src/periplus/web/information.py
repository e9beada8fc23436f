"""The pages around the search: the start page, help, and what the collection holds and who crawls it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import NamedTuple

import pycld2
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from periplus import __version__
from periplus.model import CollectionFacts
from periplus.search.missing_shards import tracking_missing
from periplus.site.headers import VOICE
from periplus.site.pages import Pages
from periplus.web.bangs import Bangs
from periplus.web.boxes.boxes import NOT_STORED
from periplus.web.branding import Branding
from periplus.web.crawl_line import ReadCrawl
from periplus.web.display import clock, day, moment, visible, web_link
from periplus.web.engine_port import Engine
from periplus.web.parameters import SearchParameters

_MAIL = re.compile(r"(?:mailto:)?([A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+@[A-Za-z0-9.-]+)")
_NAMES = {code: name.title() for name, code in pycld2.LANGUAGES}
_LANGUAGES_SHOWN = 12
_BANGS_SHOWN = 50


class _Operator(NamedTuple):
    """A row of the help page."""

    example: str
    meaning: str

    @property
    def link(self) -> str:
        return SearchParameters(self.example).link()


OPERATORS = (
    _Operator("old harbour", "pages with both words first, then pages with some of them"),
    _Operator('"old harbour"', "these words side by side"),
    _Operator("harbour OR port", "one of the words"),
    _Operator("harbour AND (rome OR ostia)", "groups"),
    _Operator("jaguar -car", "without the word"),
    _Operator("harbour site:example.org", "only this site, or a part of it: site:example.org/docs"),
    _Operator("intitle:reef", "the word is in the title"),
    _Operator("inurl:reef", "the word is in the address"),
    _Operator("harbour filetype:pdf", "only this type: html, pdf, text, feed or xml"),
    _Operator("hafen lang:de", "only this language"),
    _Operator("harbour before:2024", "pages from before this year, month or day"),
    _Operator("harbour after:2024-05-17", "pages from this day or later"),
)


class InformationPages:
    """The handlers of the start page, `/help` and `/about`."""

    def __init__(
        self, engine: Engine, pages: Pages, branding: Branding, bangs: Bangs, crawl: ReadCrawl | None = None
    ) -> None:
        """*crawl*: reads what the crawl beside the site does."""
        self._engine, self._pages, self._branding, self._bangs, self._crawl = engine, pages, branding, bangs, crawl

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/", self.home), Route("/help", self.help), Route("/about", self.about)]

    async def home(self, request: Request) -> Response:
        """The start page: an empty search box."""
        del request
        facts, is_complete = await self._facts()
        newest = facts.newest
        documents = self._engine.documents
        crawl = await asyncio.to_thread(self._crawl) if self._crawl is not None else None
        dates: dict[str, object] = {"newest": day(newest), "moment": moment(newest)}
        headers = VOICE if is_complete else VOICE | NOT_STORED
        return self._pages.response("home.html", 200, headers, documents=documents, crawl=crawl, **dates)

    async def help(self, request: Request) -> Response:
        """How to search."""
        del request
        shown = self._bangs.shown(_BANGS_SHOWN)
        more = len(self._bangs.by_name) - len(shown)
        return self._pages.response("help.html", operators=OPERATORS, bangs=shown, more_bangs=more)

    async def about(self, request: Request) -> Response:
        """What the collection holds, and who crawls it."""
        del request
        (facts, _), contact = await self._facts(), self._branding.contact
        return self._pages.response(
            "about.html",
            facts=facts,
            languages=_languages(facts.languages),
            newest=(day(facts.newest), moment(facts.newest)),
            built=(day(facts.built_at), clock(facts.built_at), moment(facts.built_at)),
            version=__version__,
            user_agent=self._branding.user_agent,
            contact=visible(contact).removeprefix("mailto:"),
            contact_link=_contact_link(contact),
        )

    async def _facts(self) -> tuple[CollectionFacts, bool]:
        """The figures, which the first request of a generation computes; and whether they are those of all shards."""
        return await asyncio.to_thread(self._find_facts)

    def _find_facts(self) -> tuple[CollectionFacts, bool]:
        """Runs in a thread."""
        with tracking_missing() as missing:
            facts = self._engine.facts()
        return facts, not missing


def _languages(pages: Mapping[str, int]) -> list[tuple[str, int]]:
    """Name and number of pages of the most frequent languages; the others together."""
    known = [(code, count) for code, count in pages.items() if code != "other"]
    rest = pages.get("other", 0) + sum(count for _, count in known[_LANGUAGES_SHOWN:])
    named = [(_NAMES.get(code) or visible(code), count) for code, count in known[:_LANGUAGES_SHOWN]]
    return [*named, ("other", rest)] if rest else named


def _contact_link(contact: str) -> str:
    """The link to a contact that is a URL or a mail address; otherwise empty."""
    mail = _MAIL.fullmatch(contact)
    return f"mailto:{mail[1]}" if mail else web_link(contact)
