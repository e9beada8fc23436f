"""What does a PDF say?

Read by PDFium, which is fast and forgiving, but written in C++ and fed by strangers: only the fenced-in process of
`parse.cell` imports this module.
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
from periplus.parse.limits import ANCHOR, DESCRIPTION, HEADING, HEADINGS, KEYWORDS, LANGUAGE, TEXT, TITLE, squeeze
from periplus.parse.pdf_page import DocumentText

SHEETS = 1_000  # read of one document: a thousand take a second or two
LINKS = 2_000  # of one document
_LINKS_A_SHEET = 200
_BOOKMARK_DEPTH = 2
_TITLE_LINES = 40  # of the first sheet, among which the title is looked for
_SAME_SIZE = 0.97  # of the largest letters
_ADDRESS_BYTES = 4_096
_TIDY = str.maketrans({
    **dict.fromkeys(map(chr, range(0x20)), " "),
    "\n": "\n",
    "\0": None,
    "\ufffe": None,  # PDFium's sign for a word that is broken between two lines
    "\xad": None,
})  # fmt: skip
_MADE_UP = re.compile(  # what programs write when nobody gave a title
    r"\s*(?:untitled|no title|title|unknown|slide 1|powerpoint presentation|microsoft (?:word|powerpoint|excel)\b.*|"
    r"(?:file|https?):.*|.*\.(?:docx?|dvi|eps|indd|odt|pdf|pptx?|ps|qxd|qxp|rtf|tex|tmp|txt|xlsx?))?\s*",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:D:)?(\d{4})(\d\d)?(\d\d)?(?:(\d\d)(\d\d)(\d\d)?)?\s*(?:Z|([+-])(\d\d)(?:'?(\d\d))?)?.*", re.ASCII | re.DOTALL
)


class UnreadableError(Exception):
    """Nothing can be had of a document; the reason has a name."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def read_pdf(body: bytes) -> DocumentText:
    """Title, dates, text, bookmarks and links of a PDF, each within its limit."""
    with suppress(PdfiumError):
        PdfDocument(b"none")  # PDFium tells the error of the document before, where it has no word for this one's
    try:
        document = PdfDocument(body)
    except PdfiumError as error:
        locked = error.err_code in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY)
        if locked:
            raise UnreadableError(Reason.PDF_LOCKED, "it asks for a password") from error
        raise UnreadableError(Reason.PDF_BROKEN, "PDFium finds no document in it") from error
    with document:
        return _read(document)


def _read(document: PdfDocument) -> DocumentText:
    said = document.get_metadata_dict(skip_empty=True)
    sheets = _Sheets(document)
    text = sheets.text()
    title = _tidied(said.get("Title", ""), TITLE)
    return DocumentText(
        title=sheets.largest_words if _MADE_UP.fullmatch(title) else title,
        description=_tidied(said.get("Subject", ""), DESCRIPTION),
        keywords=_tidied(said.get("Keywords", ""), KEYWORDS),
        headings=_bookmarks(document),
        text=text,
        language=_language(document),
        published=_moment(said.get("CreationDate", "")),
        modified=_moment(said.get("ModDate", "")),
        links=tuple(sheets.links[:LINKS]),
        sheets=len(document),
    )


class _Sheets:
    """The sheets of a document, read once and in order."""

    def __init__(self, document: PdfDocument) -> None:
        self._document = document
        self.largest_words = ""  # of the first sheet: what a reader takes for the title
        self.links: list[tuple[str, str]] = []

    def text(self) -> str:
        """The words of all sheets, a line for each line, up to the limit."""
        parts: list[str] = []
        length = 0
        for number in range(min(len(self._document), SHEETS)):
            with suppress(PdfiumError):  # one broken sheet does not spoil the others
                parts.append(self._sheet(number))
                length += len(parts[-1]) + 1
            if length > TEXT:
                break
        if not parts:
            raise UnreadableError(Reason.PDF_BROKEN, "PDFium can read none of its pages")
        return "\n".join(filter(None, parts))[:TEXT].rstrip()

    def _sheet(self, number: int) -> str:
        sheet = self._document.get_page(number)
        try:
            words = sheet.get_textpage()
            try:
                text = words.get_text_range()
                if number == 0:
                    self.largest_words = _largest_words(words, text)
                if len(self.links) < LINKS:
                    self.links += islice(_links(self._document, sheet, words), _LINKS_A_SHEET)
            finally:
                words.close()
        finally:
            sheet.close()
        return "\n".join(_lines(text))


def _lines(text: str) -> Iterator[str]:
    for line in text.replace("\r\n", "\n").replace("\r", "\n").translate(_TIDY).split("\n"):
        if words := " ".join(line.split()):
            yield words


def _largest_words(words: PdfTextPage, text: str) -> str:
    """The first lines set in the largest letters; where all are of one size, the first line."""
    sizes: list[tuple[float, str]] = []
    start = 0
    for line in text.split("\r\n")[:_TITLE_LINES]:
        if shown := " ".join(_lines(line)):
            sizes.append((raw.FPDFText_GetFontSize(words, start + len(line) - len(line.lstrip())), shown))
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


def _links(document: PdfDocument, sheet: PdfPage, words: PdfTextPage) -> Iterator[tuple[str, str]]:
    """The web addresses behind rectangles of a sheet, with the words that stand in them."""
    position, link = ctypes.c_int(0), raw.FPDF_LINK()
    while raw.FPDFLink_Enumerate(sheet, position, link):
        address = _address(document, raw.FPDFLink_GetAction(link))
        area = raw.FS_RECTF()
        if address and raw.FPDFLink_GetAnnotRect(link, area):
            said = words.get_text_bounded(area.left, area.bottom, area.right, area.top)
            yield address, _tidied(said, ANCHOR)


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
    return tuple(words for bookmark in found if (words := _tidied(bookmark.get_title(), HEADING)))


def _language(document: PdfDocument) -> str:
    buffer = ctypes.create_string_buffer(2 * (LANGUAGE + 1))
    size = raw.FPDFCatalog_GetLanguage(document, ctypes.cast(buffer, ctypes.POINTER(raw.FPDF_WCHAR)), len(buffer))
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le", "ignore").strip() if size <= len(buffer) else ""


def _moment(text: str) -> float | None:
    """``D:20130502014655+09'00'`` or less of it."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, sign, ahead, more = found.groups()
    zone = f"{sign}{ahead}:{more or '00'}" if sign else "Z"
    clock = f"T{hour}:{minute}:{second or '00'}{zone}" if hour else ""
    return epoch(f"{year}-{month or '01'}-{day or '01'}{clock}")


def _tidied(text: str, limit: int) -> str:
    return squeeze(text.translate(_TIDY), limit)
