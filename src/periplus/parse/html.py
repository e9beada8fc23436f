"""What does an HTML page say about itself, in which words, and where does it lead?"""

from __future__ import annotations

import re

import turbohtml
from turbohtml import Document

from periplus.model import Image, Page, Video
from periplus.parse import directives
from periplus.parse.facts import Facts, read_facts
from periplus.parse.finish import Finisher
from periplus.parse.folders import Folders
from periplus.parse.glance import Glance, glance
from periplus.parse.limits import ADDRESS, LANGUAGE, TEXT
from periplus.parse.links import LinkCollector
from periplus.parse.maintext import BodyReader
from periplus.parse.outline import Outline
from periplus.parse.profiles import Excerpt, Profiles
from periplus.url import Canonicalizer, host_of

# XHTML closes any element in its own tag; HTML takes that for an opening tag and loses the page after a <script/>.
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([A-Za-z][\w.-]*+)([^<>]*+)(?<=/)>"
)


class HtmlReader:
    """Reads the HTML pages of one crawl."""

    def __init__(
        self, canonicalizer: Canonicalizer, links_per_page: int, profiles: Profiles, finisher: Finisher
    ) -> None:
        self._canonicalizer = canonicalizer
        self._folders = Folders(canonicalizer)
        self._links_per_page = links_per_page
        self._profiles, self._finisher = profiles, finisher
        self._bodies = BodyReader()

    def skim(self, html: bytes, url: str, asked: set[str]) -> Page:
        """What a crawl has to know at once, at a tenth of the cost: fields, text and links; *html* is UTF-8."""
        document = glance(html) or _parsed(html.decode("utf-8", "replace"))
        outline = Outline(document)
        asked = asked | outline.robots
        nofollow = directives.nofollow(asked)
        base = self._base(url, outline.base)
        links = self._links(document, outline, base)
        return Page(
            title=outline.title,
            description=outline.description,
            keywords=outline.keywords,
            headings=outline.headings,
            text=_visible_text(document),
            language=_language(document),
            canonical=self._joined(base, outline.canonical),
            noindex=directives.noindex(asked),
            nofollow=nofollow,
            links=links.links(nofollow=nofollow),
            links_dropped=links.dropped,
        )

    def read(self, html: str, url: str, asked: set[str]) -> Page:
        """The page, read closely; *asked* is what its headers ask of robots."""
        document = _parsed(html)
        facts = read_facts(document)
        profile = self._profiles.find(host_of(url) if url else "", facts.generator)
        excerpt = Excerpt(profile, document) if profile is not None else None
        outline = Outline(document)
        asked = asked | outline.robots
        nofollow = directives.nofollow(asked)
        base = self._base(url, outline.base)
        links = self._links(document, outline, base)
        body, headings = (excerpt.read() if excerpt else None) or (self._bodies.read(document), outline.headings)
        page = Page(
            title=(excerpt.title if excerpt else "") or outline.title or facts.title,
            description=outline.description or facts.description,
            keywords=outline.keywords,
            headings=headings,
            text=body.text,
            main=body.main,
            categories=(excerpt.categories if excerpt else ()) or tuple(facts.categories),
            images=self._images(facts, base),
            videos=self._videos(facts, base),
            published=facts.published,
            modified=facts.modified,
            language=_language(document),
            canonical=self._joined(base, outline.canonical),
            noindex=directives.noindex(asked),
            nofollow=nofollow,
            links=links.links(nofollow=nofollow),
            links_dropped=links.dropped,
        )
        return self._finisher.finish(page, size=len(html), linked=body.linked)

    def _base(self, url: str, href: str | None) -> str:
        base = self._joined(url, href)
        return base if base and len(base) <= ADDRESS else url

    def _joined(self, base: str, href: str | None) -> str:
        return (self._canonicalizer.join(base, href) or "") if href and len(href) <= ADDRESS else ""

    def _links(self, document: Document | Glance, outline: Outline, base: str) -> LinkCollector:
        links = LinkCollector(self._folders.open(base), self._links_per_page)
        if outline.refreshes and isinstance(document, Document) and (refresh := document.meta_refresh()):
            links.add(refresh[1], "")
        for href, text in outline.links:
            links.add(href, text)
        links.add_anchors(document)
        return links

    def _images(self, facts: Facts, base: str) -> tuple[Image, ...]:
        found = {address: words for src, words in facts.images if (address := self._joined(base, src))}
        return tuple([Image(address, words) for address, words in found.items()])

    def _videos(self, facts: Facts, base: str) -> tuple[Video, ...]:
        found = {address: words for src, words in facts.videos.items() if (address := self._joined(base, src))}
        return tuple([Video(address, words) for address, words in found.items()])


def as_html(xhtml: str) -> str:
    """A page that was sent as XML; it is read as HTML, because most of what is sent so is not well-formed."""
    return _SELF_CLOSED.sub(r"<\1\2></\1>", xhtml)


def _parsed(html: str) -> Document:
    # With scripting, as in a browser, <noscript> is not part of the page: it holds advertisements and counters.
    return turbohtml.parse(html, positions=False, scripting=True)


def _visible_text(document: Document | Glance) -> str:
    """The words of the body: a space between two words, a line for each block."""
    text = document.to_text()
    if isinstance(document, Document):
        lines = text.split("\n")
        if not text.isascii():
            lines = [line if line.isascii() else " ".join(line.split()) for line in lines]
        text = "\n".join(filter(None, lines))
    return text if len(text) <= TEXT else text[:TEXT].rstrip()


def _language(document: Document | Glance) -> str:
    root = document.root
    declared = (root.attr("lang") or root.attr("xml:lang") or "") if root is not None else ""
    return declared.strip()[:LANGUAGE]
