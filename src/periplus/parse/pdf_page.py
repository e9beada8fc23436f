"""What is kept of a document made of sheets, whatever wrote it?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from periplus.model import Link, Page, Reason
from periplus.parse.extraction import Extraction
from periplus.parse.limits import ADDRESS
from periplus.url import Canonicalizer


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A document as its reader hands it over: plain values only, none longer than its limit."""

    title: str = ""
    description: str = ""
    keywords: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    language: str = ""  # as the document declares it
    published: float | None = None  # seconds since the epoch
    modified: float | None = None
    links: tuple[tuple[str, str], ...] = ()  # href as written, words on it
    sheets: int = 0  # of the whole document, read or not


@dataclass(frozen=True, slots=True)
class DocumentProblem:
    """Why a document gave nothing."""

    reason: Reason
    detail: str

    def as_page(self) -> Page:
        """A page that nobody is shown."""
        return Page(noindex=True, problem=self.reason, problem_detail=self.detail)


def page_of(
    paper: DocumentText, url: str, canonicalizer: Canonicalizer, links_per_page: int, extraction: Extraction
) -> Page:
    """The paper as a page of the web."""
    links, dropped = extraction.run("links", ((), 0), _links, paper.links, url, canonicalizer, links_per_page)
    return Page(
        title=paper.title,
        description=paper.description,
        keywords=paper.keywords,
        headings=paper.headings,
        text=paper.text,
        language=paper.language,
        published=paper.published,
        modified=paper.modified,
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
