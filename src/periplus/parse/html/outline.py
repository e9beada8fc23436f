"""Extracts title, description, headings, base URL, robots directives and other links in one walk over the document.

The walk also prepares a tree for text extraction. turbohtml renders tables, lists and quotations as a terminal would,
padded and numbered; a search engine wants plain text, so these elements become ``<div>``, and forms ``<footer>``. A
block inside a ``<span>`` or a link would not start a new line, so the walk puts a ``<br>`` before and after it.
Otherwise its first word would be joined to the word before it.
"""

from __future__ import annotations

from collections.abc import Callable

from turbohtml import Document, Element, Namespace, Text

from periplus.parse import directives
from periplus.parse.extraction import Extraction
from periplus.parse.glance import Element as GlancedElement
from periplus.parse.glance import Glance
from periplus.parse.limits import DESCRIPTION, HEADING, HEADINGS, KEYWORDS, TITLE, squeeze

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
# fmt: off
_LAID_OUT = frozenset({
    "blockquote", "button", "caption", "center", "dialog", "dir", "fieldset", "form", "hgroup", "label", "legend",
    "listing", "menu", "ol", "optgroup", "option", "plaintext", "pre", "search", "select", "table", "td", "textarea",
    "th", "ul", "xmp",
})
_BLOCKS = _LAID_OUT | {
    "address", "article", "aside", "dd", "details", "div", "dl", "dt", "figcaption", "figure", "footer", "header", "hr",
    "li", "main", "nav", "p", "section", "summary", *_HEADINGS,
}
_AROUND_BLOCKS = _BLOCKS | {"body", "html", "tbody", "tfoot", "thead", "tr"}
# fmt: on
_RENDERED_AS = {"form": "footer"}  # a block too; main text extraction reads it as boilerplate
_PAGINATION = frozenset({"next", "prev", "previous"})


class Outline:
    """The fields of one document, except its text and its ``<a>`` elements.

    An element that raises is skipped; the other elements are extracted.
    """

    def __init__(self, document: Document | Glance, extraction: Extraction) -> None:
        self.title = ""
        self.description = ""
        self.keywords = ""
        self.base: str | None = None  # as written
        self.canonical: str | None = None  # as written
        self.robots: set[str] = set()  # robots directives
        self.refreshes = False
        self.links: list[tuple[str, str]] = []  # href and text of links that are not <a>
        self._headings: list[Element] = []
        if isinstance(document, Document):
            extraction.run("outline", None, self._walk, document, extraction)
        else:
            extraction.run("outline", None, self._read_glance, document, extraction)
        self.headings = extraction.run("headings", (), self._read_headings, document)

    def _read_headings(self, document: Document | Glance) -> tuple[str, ...]:
        if isinstance(document, Document):
            headings = [squeeze(element.to_text(), HEADING) for element in self._headings]
        else:
            headings = document.headings()
        return tuple([words for heading in headings if (words := heading.rstrip(" ¶"))])

    def _read_glance(self, document: Glance, extraction: Extraction) -> None:
        for element in document.elements():
            try:
                _READERS[element.tag](self, element)
            except Exception as error:
                extraction.failed(element.tag, error)

    def _walk(self, document: Document, extraction: Extraction) -> None:
        hidden, inside_inline = [], []
        for element in document.iter_elements(_TAGS):
            tag = element.tag
            if tag in _BLOCKS:
                parent = element.parent
                if isinstance(parent, Element) and parent.tag not in _AROUND_BLOCKS:
                    inside_inline.append(element)
            if tag in _LAID_OUT:
                element.tag = _RENDERED_AS.get(tag, "div")
            elif tag in _HIDDEN:
                hidden.append(element)
            if tag in _READERS:
                try:
                    _READERS[tag](self, element)
                except Exception as error:
                    extraction.failed(tag, error)
        for element in inside_inline:
            element.insert_before(Element("br"))
            element.insert_after(Element("br"))
        for element in hidden:
            element.extract()

    def _read_title(self, element: Element | GlancedElement) -> None:
        if isinstance(element, Element) and element.namespace is not Namespace.HTML:
            element.insert(0, Text(" "))  # the title of an SVG is not part of the word before it
        elif not self.title:
            self.title = squeeze(element.text, TITLE)

    def _read_heading(self, element: Element | GlancedElement) -> None:
        if len(self._headings) < HEADINGS and isinstance(element, Element):  # Glance.headings() returns the headings
            self._headings.append(element)

    def _read_meta(self, element: Element | GlancedElement) -> None:
        name = element.attr("name")
        if name is None:
            self.refreshes = self.refreshes or (element.attr("http-equiv") or "").lower() == "refresh"
            return
        name = name.strip().lower()
        content = element.attr("content") or ""
        if name == "description":
            self.description = self.description or squeeze(content, DESCRIPTION)
        elif name == "keywords":
            self.keywords = self.keywords or squeeze(content, KEYWORDS)
        elif name in directives.META_NAMES:
            self.robots |= directives.meta_words(content)

    def _read_link(self, element: Element | GlancedElement) -> None:
        relations = (element.attr("rel") or "").lower().split()
        href = element.attr("href")
        if not href:
            return
        if "canonical" in relations:
            if self.canonical is None and _is_in_head(element):  # in the body it may be user content
                self.canonical = href
        elif not _PAGINATION.isdisjoint(relations) or ("alternate" in relations and element.attr("hreflang")):
            self.links.append((href, ""))

    def _read_base(self, element: Element | GlancedElement) -> None:
        if self.base is None:
            self.base = element.attr("href")

    def _read_area(self, element: Element | GlancedElement) -> None:
        self.links.append((element.attr("href") or "", element.attr("alt") or ""))

    def _read_frame(self, element: Element | GlancedElement) -> None:
        self.links.append((element.attr("src") or "", element.attr("title") or ""))


def _is_in_head(element: Element | GlancedElement) -> bool:
    if not isinstance(element, Element):
        return element.is_in_head
    return isinstance(element.parent, Element) and element.parent.tag == "head"


_READERS: dict[str, Callable[[Outline, Element | GlancedElement], None]] = {
    "title": Outline._read_title,
    "meta": Outline._read_meta,
    "link": Outline._read_link,
    "base": Outline._read_base,
    "area": Outline._read_area,
    "frame": Outline._read_frame,
    **dict.fromkeys(_HEADINGS, Outline._read_heading),
    "iframe": Outline._read_frame,
}
_HIDDEN = frozenset({"iframe", "noscript", "template"})
_TAGS = tuple({*_BLOCKS, *_HIDDEN, *_READERS})
