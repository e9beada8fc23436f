"""Extracts text, metadata, bookmarks and links from a PDF, with PDFium.

PDFium is fast and tolerant, but it is C++ code that parses hostile input. So only the sandbox process
(`parse.sandbox.child`) imports this module.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice

from pypdfium2 import PdfDocument, PdfiumError, PdfPage, PdfTextPage, raw

from periplus.model import Reason
from periplus.parse.dates import epoch
from periplus.parse.formats.pdf_page import DocumentText
from periplus.parse.limits import ANCHOR, DESCRIPTION, HEADING, HEADINGS, KEYWORDS, LANGUAGE, TEXT, TITLE, squeeze

MAX_PAGES = 1_000  # of one document: a thousand take one or two seconds
LINKS = 2_000  # of one document
_LINKS_PER_PAGE = 200
_BOOKMARK_DEPTH = 2
_TITLE_LINES = 40  # lines of the first page that are searched for the title
_SAME_SIZE = 0.97  # of the largest font size
_ADDRESS_BYTES = 4_096
_CLEAN = str.maketrans({
    **dict.fromkeys(map(chr, range(0x20)), " "),
    "\n": "\n",
    "\0": None,
    "\ufffe": None,  # PDFium's mark for a hyphenated word
    "\xad": None,
})  # fmt: skip
_PLACEHOLDER_TITLE = re.compile(  # written by programs when the author gave no title
    r"\s*(?:untitled|no title|title|unknown|slide 1|powerpoint presentation|microsoft (?:word|powerpoint|excel)\b.*|"
    r"(?:file|https?):.*|.*\.(?:docx?|dvi|eps|indd|odt|pdf|pptx?|ps|qxd|qxp|rtf|tex|tmp|txt|xlsx?))?\s*",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?\s*(?:Z|([+-])(\d\d)(?:'?(\d\d))?)?.*", re.ASCII | re.DOTALL
)


class UnreadableError(Exception):
    """A document cannot be parsed."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def read_pdf(body: bytes) -> DocumentText:
    """Title, dates, text, bookmarks and links of a PDF, each within its limit."""
    with suppress(PdfiumError):
        PdfDocument(b"none")  # resets PDFium's last error, which it does not set for every failure
    try:
        document = PdfDocument(body)
    except PdfiumError as error:
        locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        if locked:
            raise UnreadableError(Reason.PDF_LOCKED, "the PDF requires a password") from error
        raise UnreadableError(Reason.PDF_BROKEN, "PDFium cannot open the PDF") from error
    with document:
        return _read(document)


def _read(document: PdfDocument) -> DocumentText:
    metadata = document.get_metadata_dict(skip_empty=True)
    pages = _Pages(document)
    text = pages.text()
    title = _clean(metadata.get("Title", ""), TITLE)
    return DocumentText(
        title=pages.largest_text if _PLACEHOLDER_TITLE.fullmatch(title) else title,
        description=_clean(metadata.get("Subject", ""), DESCRIPTION),
        keywords=_clean(metadata.get("Keywords", ""), KEYWORDS),
        headings=_bookmarks(document),
        text=text,
        language=_language(document),
        published=_timestamp(metadata.get("CreationDate", "")),
        modified=_timestamp(metadata.get("ModDate", "")),
        links=tuple(pages.links[:LINKS]),
        pages=len(document),
    )


class _Pages:
    """Reads the pages of a document once, in order."""

    def __init__(self, document: PdfDocument) -> None:
        self._document = document
        self.largest_text = ""  # of the first page: the visible title
        self.links: list[tuple[str, str]] = []

    def text(self) -> str:
        """The text of all pages, line by line, up to the limit."""
        parts: list[str] = []
        length = 0
        for number in range(min(len(self._document), MAX_PAGES)):
            with suppress(PdfiumError):  # skips a broken page
                parts.append(self._page(number))
                length += len(parts[-1]) + 1
            if length > TEXT:
                break
        if not parts:
            raise UnreadableError(Reason.PDF_BROKEN, "PDFium cannot read any page of the PDF")
        return "\n".join(filter(None, parts))[:TEXT].rstrip()

    def _page(self, number: int) -> str:
        page = self._document.get_page(number)
        try:
            textpage = page.get_textpage()
            try:
                text = textpage.get_text_range()
                if number == 0:
                    self.largest_text = _largest_text(textpage, text)
                if len(self.links) < LINKS:
                    self.links += islice(_links(self._document, page, textpage), _LINKS_PER_PAGE)
            finally:
                textpage.close()
        finally:
            page.close()
        return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("\r\n", "\n").replace("\r", "\n").translate(_CLEAN).split("\n"):
        if words := " ".join(line.split()):
            yield words


def _largest_text(textpage: PdfTextPage, text: str) -> str:
    """The first lines in the largest font size; the first line, if all have the same size."""
    sizes: list[tuple[float, str]] = []
    start = 0
    for line in text.split("\r\n")[:_TITLE_LINES]:
        if shown := " ".join(_lines(line)):
            sizes.append((raw.FPDFText_GetFontSize(textpage, start + len(line) - len(line.lstrip())), shown))
        start += len(line) + 2
    lettered = [size for size, shown in sizes if sum(map(str.isalpha, shown)) > 3]
    largest = max(lettered, default=0.0)
    found: list[str] = []
    for size, shown in sizes:
        if size >= largest * _SAME_SIZE:
            found.append(shown)
        elif found:
            break
    most = 3 if len(found) < len(sizes) else 1
    return squeeze(" ".join(found[:most]), TITLE)


def _links(document: PdfDocument, page: PdfPage, textpage: PdfTextPage) -> Iterator[tuple[str, str]]:
    """The URLs of the link annotations of a page, with the text inside their rectangles."""
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(page, position, link):
        address = _address(document, raw.FPDFLink_GetAction(link))
        area = raw.FS_RECTF()
        if address and raw.FPDFLink_GetAnnotRect(link, area):
            anchor = textpage.get_text_bounded(area.left, area.bottom, area.right, area.top)
            yield address, _clean(anchor, ANCHOR)


def _address(document: PdfDocument, action: object) -> str:
    if not action:
        return ""
    size = raw.FPDFAction_GetURIPath(document, action, None, 0)
    if not 1 < size <= _ADDRESS_BYTES:
        return ""
    buffer = ctypes.create_string_buffer(size)
    raw.FPDFAction_GetURIPath(document, action, buffer, size)
    return buffer.value.decode("utf-8", "replace")


def _bookmarks(document: PdfDocument) -> tuple[str, ...]:
    found = islice(document.get_toc(max_depth=_BOOKMARK_DEPTH), HEADINGS)
    return tuple(words for bookmark in found if (words := _clean(bookmark.get_title(), HEADING)))


def _language(document: PdfDocument) -> str:
    buffer = ctypes.create_string_buffer(2 * (LANGUAGE + 1))
    size = raw.FPDFCatalog_GetLanguage(document, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), len(buffer))
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "ignore").strip() if size <= len(buffer) else ""


def _timestamp(text: str) -> float | None:
    """Parse a PDF date: ``D:20130502014655+09'00'`` or a part of it."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, sign, ahead, more = found.groups()
    zone = f"{sign}{ahead}:{more or '00'}" if sign else "Z"
    clock = f"T{hour}:{minute}:{second or '00'}{zone}" if hour else ""
    return epoch(f"{year}-{month or '01'}-{day or '01'}{clock}")


def _clean(text: str, limit: int) -> str:
    return squeeze(text.translate(_CLEAN), limit)
