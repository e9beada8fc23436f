"""Parses HTML into a page: fields, text, main text, facts and links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

import turbohtml
from turbohtml import Document

from periplus.model import Image, Link, Page, Video
from periplus.parse import directives
from periplus.parse.extraction import Extraction
from periplus.parse.glance import Glance, glance
from periplus.parse.html.facts import Facts, read_facts
from periplus.parse.html.links import LinkCollector, LinkResolver
from periplus.parse.html.outline import Outline
from periplus.parse.html.profiles import Excerpt, Profiles
from periplus.parse.limits import ADDRESS, CONTEXT, IMAGE_WORDS, IMAGES, LANGUAGE, TEXT, VIDEOS
from periplus.parse.main_text.line_scores import Body, BodyReader
from periplus.parse.media.images import Found, is_decoration
from periplus.parse.media.videos import linked_videos
from periplus.parse.quality import PageFinisher
from periplus.url import Canonicalizer, host_of

# XHTML allows self-closing tags. HTML reads them as start tags, and would lose the page after a <script/>.
_CLOSED_FRAME = re.compile(rb"""(<iframe\b(?:[^>"']|"[^"]*"|'[^']*')*)/>""", re.IGNORECASE)
_SELF_CLOSED = re.compile(
    r"<(?!(?:area|base|br|col|embed|frame|hr|img|input|link|meta|param|source|track|wbr)\b)"
    r"([A-Za-z][\w.-]*+)([^<>]*+)(?<=/)>"
)


class HtmlReader:
    """Parses the HTML pages of one crawl."""

    def __init__(
        self, canonicalizer: Canonicalizer, links_per_page: int, profiles: Profiles, finisher: PageFinisher
    ) -> None:
        self._canonicalizer = canonicalizer
        self._resolver = LinkResolver(canonicalizer)
        self._links_per_page = links_per_page
        self._profiles, self._finisher = profiles, finisher
        self._bodies = BodyReader()

    def skim(self, html: bytes, url: str, robots_words: set[str], extraction: Extraction) -> Page:
        """Parse quickly, with what a crawl needs: fields, text and links; *html* is UTF-8."""
        run = extraction.run
        document = run("glance", None, glance, html) or parsed(html.decode("utf-8", "replace"))
        outline = Outline(document, extraction)
        noindex, nofollow = run("directives", (False, False), _directives, robots_words, outline)
        base = run("base", url, self._base, url, outline.base)
        links = self._links(document, outline, base, extraction)
        return Page(
            title=outline.title,
            description=outline.description,
            keywords=outline.keywords,
            headings=outline.headings,
            text=run("text", "", _visible_text, document),
            language=run("declared language", "", _language, document),
            canonical=run("canonical", "", self._joined, base, outline.canonical),
            noindex=noindex,
            nofollow=nofollow,
            links=links.links(nofollow=nofollow),
            links_dropped=links.dropped,
            failed_extractors=extraction.failed_extractors,
        )

    def read(self, html: str, url: str, robots_words: set[str], extraction: Extraction) -> Page:
        """Parse fully; *robots_words* holds the robots directives of the HTTP headers."""
        run = extraction.run
        document = parsed(html)
        facts = run("facts", Facts(), read_facts, document, extraction)
        excerpt = run("profile", None, self._excerpt, document, url, facts)
        outline = Outline(document, extraction)
        noindex, nofollow = run("directives", (False, False), _directives, robots_words, outline)
        base = run("base", url, self._base, url, outline.base)
        links = self._links(
            document, outline, base, extraction, run("glance", None, glance, html.encode("utf-8", "replace"))
        )
        linked = links.links(nofollow=nofollow)
        body, headings = self._body(document, excerpt, outline, extraction)
        page = Page(
            title=(excerpt.title if excerpt else "") or outline.title or facts.title,
            description=outline.description or facts.description,
            keywords=outline.keywords,
            headings=headings,
            text=body.text,
            main=body.main,
            categories=(excerpt.categories if excerpt else ()) or tuple(facts.categories),
            images=run("images", (), self._images, facts, base, facts.title or outline.title),
            videos=run("videos", (), self._videos, facts, base, facts.title or outline.title, linked),
            published=facts.published,
            modified=facts.modified,
            language=run("declared language", "", _language, document),
            canonical=run("canonical", "", self._joined, base, outline.canonical),
            noindex=noindex,
            nofollow=nofollow,
            links=linked,
            links_dropped=links.dropped,
        )
        return self._finisher.finish(page, extraction, size=len(html), linked=body.linked)

    def _excerpt(self, document: Document, url: str, facts: Facts) -> Excerpt | None:
        profile = self._profiles.find(host_of(url) if url else "", facts.generator)
        return Excerpt(profile, document) if profile is not None else None

    def _body(
        self, document: Document, excerpt: Excerpt | None, outline: Outline, extraction: Extraction
    ) -> tuple[Body, tuple[str, ...]]:
        """The text of a page and its headings: from its profile, else its main text, else all visible text."""
        if excerpt is not None and (found := extraction.run("profile", None, excerpt.read)) is not None:
            return found
        body = extraction.run("main text", None, self._bodies.read, document)
        if body is None:
            body = Body(extraction.run("text", "", _visible_text, document), (), 0.0)
        return body, outline.headings

    def _base(self, url: str, href: str | None) -> str:
        base = self._joined(url, href)
        return base if base and len(base) <= ADDRESS else url

    def _joined(self, base: str, href: str | None) -> str:
        return (self._canonicalizer.join(base, href) or "") if href and len(href) <= ADDRESS else ""

    def _links(
        self,
        document: Document | Glance,
        outline: Outline,
        base: str,
        extraction: Extraction,
        scanned: Glance | None = None,
    ) -> LinkCollector:
        """Collect the links of a page; each kind of link is extracted separately, so that one can fail alone.

        *scanned*: the same page from the fast scanner, which finds ``<a>`` in a third of the time.
        """
        links = LinkCollector(self._resolver.open(base), self._links_per_page)
        if outline.refreshes and isinstance(document, Document):
            extraction.run("refresh", None, _add_refresh, links, document)
        extraction.run("other links", None, links.add_all, outline.links)
        extraction.run("links", None, links.add_anchors, scanned or document)
        return links

    def _images(self, facts: Facts, base: str, title: str) -> tuple[Image, ...]:
        """The images of a page, each once; first the one that the page names for itself, described by its title."""
        found = self._merged(facts.images, base)
        own = facts.own_image
        if own is not None and not is_decoration(own.address) and (url := self._joined(base, own.address)):
            words, context = found.pop(url, ("", ""))
            words = words or own.words
            found = {url: (words, context or ("" if words else title[:CONTEXT])), **found}
        images = [Image(url, *described) for url, described in found.items()]
        return tuple(images[:IMAGES])

    def _videos(self, facts: Facts, base: str, title: str, links: Iterable[Link]) -> tuple[Video, ...]:
        """The videos that a page shows, names or links to, each once."""
        linked = islice(linked_videos(links), VIDEOS)
        named = [Found(own.address, title[:IMAGE_WORDS]) for own in facts.own_videos]
        found = self._merged([*facts.videos, *linked, *named], base)
        return tuple([Video(url, *described) for url, described in islice(found.items(), VIDEOS)])

    def _merged(self, media: Iterable[Found], base: str) -> dict[str, tuple[str, str]]:
        """Words and context of images or videos by canonical URL; the first that has words or context counts."""
        found: dict[str, tuple[str, str]] = {}
        for one in media:
            if url := self._joined(base, one.address):
                words, context = found.get(url, ("", ""))
                found[url] = words or one.words, context or one.context
        return found


def as_html(xhtml: str) -> str:
    """Rewrite XHTML as HTML; most pages sent as XHTML are not well-formed XML."""
    return _SELF_CLOSED.sub(r"<\1\2></\1>", xhtml)


def with_closed_frames(html: bytes) -> bytes:
    """Add `</iframe>` to frames that are closed as in XML, when the page closes none.

    By the HTML standard the rest of the page is inside the frame, and a browser shows nothing of it.
    """
    has_frames = b"<iframe" in html or b"<IFRAME" in html
    if not has_frames or b"</iframe" in html or b"</IFRAME" in html:
        return html
    return _CLOSED_FRAME.sub(rb"\1></iframe>", html)


def _directives(robots_words: set[str], outline: Outline) -> tuple[bool, bool]:
    """The noindex and nofollow flags of a page, from its headers and ``<meta>``."""
    words = robots_words | outline.robots
    return directives.noindex(words), directives.nofollow(words)


def _add_refresh(links: LinkCollector, document: Document) -> None:
    try:
        refresh = document.meta_refresh()
    except ValueError:
        return  # not a valid URL
    if refresh is not None:
        links.add(refresh[1], "")


def parsed(html: str) -> Document:
    """Parse HTML as a browser with scripting does."""
    # With scripting on, as in a browser, <noscript> is ignored: it holds advertisements and tracking pixels.
    return turbohtml.parse(html, positions=False, scripting=True)


def _visible_text(document: Document | Glance) -> str:
    """The text of the body: single spaces between words, one line per block."""
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
