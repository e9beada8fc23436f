"""Parses a response into a page, by media type: HTML, XHTML, XML, PDF, plain text, feeds and sitemaps."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from periplus.config import Parsing
from periplus.model import Link, ListedPage, Page, Reason, Response
from periplus.parse import directives
from periplus.parse.charset import as_utf8, decode
from periplus.parse.dates import epoch
from periplus.parse.extraction import Extraction
from periplus.parse.formats.feed import FeedEntry, read_feed
from periplus.parse.formats.pdf_page import DocumentProblem, DocumentText, page_of
from periplus.parse.formats.plain import read_text, read_xml
from periplus.parse.formats.sitemap import read_sitemap
from periplus.parse.html.html_reader import HtmlReader, as_html, with_closed_frames
from periplus.parse.html.profiles import Profiles
from periplus.parse.quality import PageFinisher
from periplus.parse.sandbox.parent import Sandbox
from periplus.parse.sandbox.protocol import ParseRules
from periplus.url import Canonicalizer, host_of, registrable_domain

logger = logging.getLogger("periplus.parse")

_UNKNOWN_TYPES = frozenset({"", "*/*", "application/octet-stream", "application/unknown", "unknown/unknown"})
_XHTML_NAMESPACE = "http://www.w3.org/1999/xhtml"
_SNIFFED = 1_024  # bytes, or characters
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
    """Parses responses into pages and never raises; broken pages give partial results.

    PDFs and large pages are parsed in the sandbox, within limits of time and memory. The parser caches resolved links:
    keep one parser for a whole crawl, and one per thread.
    """

    def __init__(
        self,
        canonicalizer: Canonicalizer,
        *,
        links_per_page: int,
        settings: Parsing = Parsing(),  # noqa: B008  # frozen
        read_pdf: Callable[[bytes], DocumentText | DocumentProblem] | None = None,
    ) -> None:
        """*read_pdf* is given only inside the sandbox: with it, this process parses everything itself."""
        self._canonicalizer, self._links_per_page = canonicalizer, links_per_page
        self._finisher = PageFinisher(settings.languages)
        self._needs_language = bool(settings.languages)  # the language decides whether links are followed
        self._html = HtmlReader(canonicalizer, links_per_page, Profiles(settings.profiles), self._finisher)
        self._read_pdf, self._sandbox_bytes = read_pdf, settings.aside_bytes
        self._sandbox = Sandbox(ParseRules(settings, canonicalizer.tracking, canonicalizer.sessions, links_per_page))

    def close(self) -> None:
        """End the sandbox process, if one is running; the next document that needs one starts it again."""
        self._sandbox.close()

    def skim(self, response: Response, *, sandboxed: bool | None = None) -> Page:
        """Parse quickly, with what a crawl needs: HTML without main text, facts, language and quality.

        *sandboxed*: whether to parse in the sandbox; None: `needs_sandbox` decides.
        """
        if self.needs_sandbox(response) if sandboxed is None else sandboxed:
            return self._read_in_sandbox(response, full=False)
        return self._safely(self._skim, response)

    def parse(self, response: Response, *, sandboxed: bool | None = None) -> Page:
        """Parse fully; a response that is not text gives an empty page."""
        if self.needs_sandbox(response) if sandboxed is None else sandboxed:
            return self._read_in_sandbox(response, full=True)
        return self._safely(self._parse, response)

    def needs_sandbox(self, response: Response) -> bool:
        """Whether to parse this response in the sandbox: it is a PDF, or larger than `parse.aside_bytes`."""
        if self._read_pdf is not None:
            return False
        return len(response.body) > self._sandbox_bytes or _mime(response) == _PDF

    def _read_in_sandbox(self, response: Response, *, full: bool) -> Page:
        read = self._sandbox.read(response, full=full)
        return read.as_page() if isinstance(read, DocumentProblem) else read

    def _safely(self, read: Callable[[Response], Page], response: Response) -> Page:
        try:
            return read(response)
        except MemoryError:
            return DocumentProblem(Reason.PARSE_MEMORY, "parsing exceeds the memory limit").as_page()
        except Exception as error:
            logger.info("parsing %s failed", response.url, exc_info=True)
            return DocumentProblem(Reason.PARSE_CRASH, f"the parser raised {type(error).__name__}").as_page()

    def _skim(self, response: Response) -> Page:
        mime = _mime(response)
        if mime not in _HTML or self._needs_language:
            return self._parse(response)
        extraction = Extraction(response.url)
        robots_words = extraction.run("header directives", set(), directives.header_words, response)
        if mime == "text/html":
            kind = response.headers.get("content-type", "")
            # Invalid bytes in a page declared as UTF-8 become U+FFFD.
            body = with_closed_frames(response.body)
            html = extraction.run("charset", body, as_utf8, body, kind)
        else:
            html = as_html(_text(response, extraction)).encode()
        return self._html.skim(html, response.url, robots_words, extraction)

    def _parse(self, response: Response) -> Page:
        extraction = Extraction(response.url)
        page = self._read(response, extraction)
        if page.modified is None and (changed := response.headers.get("last-modified")):
            modified = extraction.run("last-modified", None, epoch, changed)
            page = page._replace(modified=modified, failed_extractors=extraction.failed_extractors)
        return page

    def _read(self, response: Response, extraction: Extraction) -> Page:
        mime = _mime(response)
        robots_words = extraction.run("header directives", set(), directives.header_words, response)
        if mime == "text/html":
            response = replace(response, body=with_closed_frames(response.body))
            return self._html.read(_text(response, extraction), response.url, robots_words, extraction)
        if mime == "application/xhtml+xml":
            return self._html.read(as_html(_text(response, extraction)), response.url, robots_words, extraction)
        if mime in {"text/xml", "application/xml"} or mime.endswith("+xml"):
            return self._parse_xml(response, robots_words, extraction)
        if mime == _PDF:
            return self._parse_pdf(response, robots_words, extraction)
        page = read_text(_text(response, extraction)) if mime.startswith("text/") else Page()
        return self._finish(page, response, robots_words, extraction)

    def _parse_pdf(self, response: Response, robots_words: set[str], extraction: Extraction) -> Page:
        if response.truncated:
            return DocumentProblem(Reason.PDF_CUT, "the PDF is truncated").as_page()
        assert self._read_pdf is not None, "PDFs are parsed in the sandbox only"
        read = self._read_pdf(response.body)
        if isinstance(read, DocumentProblem):
            return read.as_page()
        page = page_of(read, response.url, self._canonicalizer, self._links_per_page, extraction)
        return self._finish(page, response, robots_words, extraction)

    def _finish(self, page: Page, response: Response, robots_words: set[str], extraction: Extraction) -> Page:
        page = extraction.run("directives", page, _with_directives, page, robots_words)
        return self._finisher.finish(page, extraction, size=len(response.body))

    def _parse_xml(self, response: Response, robots_words: set[str], extraction: Extraction) -> Page:
        text = _text(response, extraction)
        if _XHTML_NAMESPACE in text[:_SNIFFED]:
            return self._html.read(as_html(text), response.url, robots_words, extraction)
        if (listing := _LISTING.search(text[:_SNIFFED])) is not None:
            return self._parse_listing(response, is_feed=listing[1] not in _SITEMAPS)
        return self._finish(read_xml(text), response, robots_words, extraction)

    def _parse_listing(self, response: Response, *, is_feed: bool) -> Page:
        """A page with the links of a sitemap or feed; the list itself is not indexed."""
        if is_feed:
            feed = read_feed(response.body, response.url, self._canonicalizer)
            links = [Link(entry.link, entry.title, False) for entry in feed.entries if entry.link]
            return Page(title=feed.title, noindex=True, links=tuple(links), listed=_listed(feed.entries, response.url))
        sitemap = read_sitemap(response.body, response.url, self._canonicalizer)
        entries = (*sitemap.sitemaps, *sitemap.urls)
        return Page(noindex=True, links=tuple(Link(entry.loc, "", False) for entry in entries))


def _listed(entries: Iterable[FeedEntry], url: str) -> tuple[ListedPage, ...]:
    """The dated entries of a feed; a feed does not date the pages of other sites."""
    own = registrable_domain(host_of(url))
    dated = ((entry.link, entry.updated if entry.published is None else entry.published) for entry in entries)
    return tuple(
        ListedPage(link, date) for link, date in dated if date is not None and registrable_domain(host_of(link)) == own
    )


def _text(response: Response, extraction: Extraction) -> str:
    """The decoded body; UTF-8 when detecting the encoding fails."""
    text = extraction.run("charset", None, decode, response.body, response.headers.get("content-type", ""))
    return response.body.decode("utf-8", "replace") if text is None else text


def _mime(response: Response) -> str:
    return _sniffed(response.body) if response.mime in _UNKNOWN_TYPES else response.mime


def _sniffed(body: bytes) -> str:
    """The media type of a body, guessed from its first bytes, when the server sends none."""
    start = body[:_SNIFFED].removeprefix(b"\xef\xbb\xbf")
    if _HTML_START.match(start):
        return "text/html"
    if start.lstrip().startswith(b"<?xml"):
        return "application/xml"
    if start.startswith(b"%PDF-"):
        return _PDF
    return "" if _BINARY.match(start) else "text/plain"


def _with_directives(page: Page, robots_words: set[str]) -> Page:
    if not robots_words:
        return page
    return page._replace(noindex=directives.noindex(robots_words), nofollow=directives.nofollow(robots_words))
