"""Turns an extracted document, such as a PDF, into a page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from periplus.model import Link, Page, Reason
from periplus.parse.extraction import Extraction
from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer


@dataclass(frozen=True, slots=True)
class DocumentText:
    """The extracted content of a document; every value is within its limit."""

    title: str = ""
    description: str = ""
    keywords: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # as the document declares it
    published: float | None = None  # seconds since the epoch
    modified: float | None = None
    links: tuple[tuple[str, str], ...] = ()  # href as written, anchor text
    pages: int = 0  # of the whole document, including pages past the limit


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """The reason why a document could not be parsed."""

    reason: Reason
    detail: str

    def as_page(self) -> Page:
        """An empty page with the problem; it is not indexed."""
        return Page(noindex=True, problem=self.reason, problem_detail=self.detail)


def page_of(
    document: DocumentText, url: str, canonicalizer: Canonicalizer, links_per_page: int, extraction: Extraction
) -> Page:
    """The document as a page."""
    links, dropped = extraction.run("links", ((), 0), _links, document.links, url, canonicalizer, links_per_page)
    return Page(
        title=document.title,
        description=document.description,
        keywords=document.keywords,
        headings=document.headings,
        text=document.text,
        language=document.language,
        published=document.published,
        modified=document.modified,
        links=links,
        links_dropped=dropped,
    )


def _links(
    found: Iterable[tuple[str, str]], url: str, canonicalizer: Canonicalizer, most: int
) -> tuple[tuple[Link, ...], int]:
    anchors: dict[str, str] = {}
    dropped = 0
    for href, words in found:
        target = canonicalizer.join(url, href) if len(href) <= ADDRESS else None
        if target is None:
            continue
        if target in anchors or len(anchors) < most:
            anchors[target] = anchors.get(target) or words
        else:
            dropped += 1
    return tuple(Link(target, words, False) for target, words in anchors.items()), dropped
