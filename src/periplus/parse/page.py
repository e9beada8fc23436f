"""What is on this page, whatever it was written in?"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable

from periplus.config import Parsing
from periplus.model import Link, Page, Reason, Response
from periplus.parse import directives
from periplus.parse.charset import as_utf8, decode
from periplus.parse.dates import epoch
from periplus.parse.extraction import Extraction
from periplus.parse.feed import read_feed
from periplus.parse.html import HtmlReader, as_html
from periplus.parse.pdf_page import DocumentProblem, DocumentText, page_of
from periplus.parse.plain import read_text, read_xml
from periplus.parse.profiles import Profiles
from periplus.parse.quality import PageFinisher
from periplus.parse.sandbox.parent import Sandbox
from periplus.parse.sandbox.protocol import ParseRules
from periplus.parse.sitemap import read_sitemap
from periplus.url import Canonicalizer

logger = logging.getLogger("periplus.parse")

_UNSAID = frozenset({"", "*/*", "application/octet-stream", "application/unknown", "unknown/unknown"})
_XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
_SNIFFED = 1_024
_HTML_START = re.compile(
    rb"\s*<(?:!doctype\s+html|!--|(?:a|b|body|br|div|font|h1|head|html|iframe|p|script|style|table|title)[\s>])",
    re.IGNORECASE,
)
_SITEMAPS = frozenset({"urlset", "sitemapindex"})
_LISTING = re.compile(r"<(urlset|sitemapindex|rss|feed|rdf:RDF)[\s>]")
_BINARY = re.compile(rb"[^\0]*\0")
_PDF = "application/pdf"
_HTML = frozenset({"text/html", "application/xhtml+xml"})


class PageParser:
    """Turns responses into pages, and never fails: one that makes no sense gives as much as could be had of it.

    What is large, and every PDF, is read aside: in a process behind a fence, within limits of time and memory.
    It remembers where links lead, so keep one for a whole crawl, and one for each thread.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        *,
        links_per_page: int,
        settings: Parsing = Parsing(),  # noqa: B008  # frozen
        read_paper: Callable[[bytes], DocumentText | DocumentProblem] | None = None,
    ) -> None:
        """With *read_paper*, which reads PDFs, everything is read in this process: it is the one behind the fence."""
        self._canonicalizer, self._links_per_page = canonicalizer, links_per_page
        self._finisher = PageFinisher(settings.languages)
        self._is_choosy = bool(settings.languages)  # whether a page is wanted depends on its words
        self._html = HtmlReader(canonicalizer, links_per_page, Profiles(settings.profiles), self._finisher)
        self._read_paper, self._aside_bytes = read_paper, settings.aside_bytes
        self._warden = Sandbox(ParseRules(settings, canonicalizer.tracking, canonicalizer.sessions, links_per_page))

    def close(self) -> None:
        """End the process behind the fence, if there is one; it is started again when it is needed."""
        self._warden.close()

    def skim(self, response: Response, *, aside: bool | None = None) -> Page:
        """What a crawl has to know at once; only HTML is read less closely than by `parse`.

        *aside*: whether it is read behind the fence; None: if `is_read_aside` says so.
        """
        if self.is_read_aside(response) if aside is None else aside:
            return self._read_aside(response, closely=False)
        return self._safely(self._skim, response)

    def parse(self, response: Response, *, aside: bool | None = None) -> Page:
        """What is on the page, read closely; nothing, when it is not text."""
        if self.is_read_aside(response) if aside is None else aside:
            return self._read_aside(response, closely=True)
        return self._safely(self._parse, response)

    def is_read_aside(self, response: Response) -> bool:
        """Whether reading this may take so long, or so much, that it is left to the process behind the fence."""
        if self._read_paper is not None:
            return False
        return len(response.body) > self._aside_bytes or _mime(response) == _PDF

    def _read_aside(self, response: Response, *, closely: bool) -> Page:
        read = self._warden.read(response, closely=closely)
        return read.as_page() if isinstance(read, DocumentProblem) else read

    def _safely(self, read: Callable[[Response], Page], response: Response) -> Page:
        try:
            return read(response)
        except MemoryError:
            return DocumentProblem(Reason.PARSE_MEMORY, "it needs more memory than it may have").as_page()
        except Exception as error:
            logger.info("reading %s failed", response.url, exc_info=True)
            return DocumentProblem(Reason.PARSE_CRASH, f"its reader failed: {type(error).__name__}").as_page()

    def _skim(self, response: Response) -> Page:
        mime = _mime(response)
        if mime not in _HTML or self._is_choosy:
            return self._parse(response)
        extraction = Extraction(response.url)
        asked = extraction.run("header directives", set(), directives.header_words, response)
        if mime == "text/html":
            kind = response.headers.get("content-type", "")
            # Bytes that are not UTF-8, though they are taken for it, become U+FFFD.
            html = extraction.run("charset", response.body, as_utf8, response.body, kind)
        else:
            html = as_html(_text(response, extraction)).encode()
        return self._html.skim(html, response.url, asked, extraction)

    def _parse(self, response: Response) -> Page:
        extraction = Extraction(response.url)
        page = self._read(response, extraction)
        if page.modified is None and (changed := response.headers.get("last-modified")):
            modified = extraction.run("last-modified", None, epoch, changed)
            page = page._replace(modified=modified, failed_extractors=extraction.failed_extractors)
        return page

    def _read(self, response: Response, extraction: Extraction) -> Page:
        mime = _mime(response)
        asked = extraction.run("header directives", set(), directives.header_words, response)
        if mime == "text/html":
            return self._html.read(_text(response, extraction), response.url, asked, extraction)
        if mime == "application/xhtml+xml":
            return self._html.read(as_html(_text(response, extraction)), response.url, asked, extraction)
        if mime in {"text/xml", "application/xml"} or mime.endswith("+xml"):
            return self._parse_xml(response, asked, extraction)
        if mime == _PDF:
            return self._parse_pdf(response, asked, extraction)
        page = read_text(_text(response, extraction)) if mime.startswith("text/") else Page()
        return self._finished(page, response, asked, extraction)

    def _parse_pdf(self, response: Response, asked: set[str], extraction: Extraction) -> Page:
        if response.truncated:
            return DocumentProblem(Reason.PDF_CUT, "its end is missing").as_page()
        assert self._read_paper is not None, "a PDF is read behind the fence only"
        read = self._read_paper(response.body)
        if isinstance(read, DocumentProblem):
            return read.as_page()
        page = page_of(read, response.url, self._canonicalizer, self._links_per_page, extraction)
        return self._finished(page, response, asked, extraction)

    def _finished(self, page: Page, response: Response, asked: set[str], extraction: Extraction) -> Page:
        page = extraction.run("directives", page, _marked, page, asked)
        return self._finisher.finish(page, extraction, size=len(response.body))

    def _parse_xml(self, response: Response, asked: set[str], extraction: Extraction) -> Page:
        text = _text(response, extraction)
        if _XHTML_NAMESPACE in text[:_SNIFFED]:
            return self._html.read(as_html(text), response.url, asked, extraction)
        if (listing := _LISTING.search(text[:_SNIFFED])) is not None:
            return self._parse_listing(response, is_feed=listing[1] not in _SITEMAPS)
        return self._finished(read_xml(text), response, asked, extraction)

    def _parse_listing(self, response: Response, *, is_feed: bool) -> Page:
        """A sitemap or feed is a list of links: they are followed, the list itself is not a page to be found."""
        if is_feed:
            feed = read_feed(response.body, response.url, self._canonicalizer)
            links = [Link(entry.link, entry.title, False) for entry in feed.entries if entry.link]
            return Page(title=feed.title, noindex=True, links=tuple(links))
        sitemap = read_sitemap(response.body, response.url, self._canonicalizer)
        entries = (*sitemap.sitemaps, *sitemap.urls)
        return Page(noindex=True, links=tuple(Link(entry.loc, "", False) for entry in entries))


def _text(response: Response, extraction: Extraction) -> str:
    """The text of a body; as UTF-8 when its encoding cannot be told."""
    text = extraction.run("charset", None, decode, response.body, response.headers.get("content-type", ""))
    return response.body.decode("utf-8", "replace") if text is None else text


def _mime(response: Response) -> str:
    return _sniffed(response.body) if response.mime in _UNSAID else response.mime


def _sniffed(body: bytes) -> str:
    """The type of a body whose server does not name one."""
    start = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf")
    if _HTML_START.match(start):
        return "text/html"
    if start.lstrip().startswith(b"<?xml"):
        return "application/xml"
    if start.startswith(b"%PDF-"):
        return _PDF
    return "" if _BINARY.match(start) else "text/plain"


def _marked(page: Page, asked: set[str]) -> Page:
    return page._replace(noindex=directives.noindex(asked), nofollow=directives.nofollow(asked)) if asked else page
