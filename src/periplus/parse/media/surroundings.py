"""Finds the text that describes an image or video: its caption, else the paragraph or heading beside it."""

from __future__ import annotations

import re
from itertools import islice

from turbohtml import Element, Node, Text

from periplus.parse.limits import CONTEXT, squeeze

_NODES = 200  # looked at for one text: a hostile page has millions
_LEVELS = 4  # ancestors looked at
_CAPTION_CLASS = re.compile(r"caption|thumb", re.IGNORECASE)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_PARAGRAPHS = _HEADINGS | {"p", "li", "td", "th", "dd", "dt", "blockquote", "caption", "summary"}
_BLOCKS = _PARAGRAPHS | {"div", "section", "article", "figure", "figcaption", "ul", "ol", "table", "tr", "br", "hr"}
_UNSEEN = frozenset({"script", "style", "template", "noscript", "iframe", "video", "object", "select", "svg"})


def caption_of(element: Element) -> str:
    """The caption of an image or video: a ``<figcaption>``, or the text of a box that is made for a caption."""
    if (figure := element.closest("figure")) is not None:
        return text_of(figure.find("figcaption") or figure)
    for ancestor in _ancestors(element, _LEVELS - 1):
        if _CAPTION_CLASS.search(ancestor.attr("class") or ""):
            return text_of(ancestor)
    return ""


def text_around(element: Element) -> str:
    """The text of the paragraph, table cell or list item that has the element, else its heading."""
    for ancestor in _ancestors(element, _LEVELS):
        if ancestor.tag in _PARAGRAPHS and (text := text_of(ancestor)):
            return text
    return _heading(element)


def _heading(element: Element) -> str:
    """The heading above the element; in a list of boxes with an image and a heading each, that of its own box."""
    above = next(filter(_is_heading, islice(element.preceding, _NODES)), None)
    box = _box(element)
    if box is not None and (above is None or box not in islice(above.ancestors, 2 * _LEVELS)):
        above = next(filter(_is_heading, islice(box.descendants, _NODES)), above)
    return text_of(above) if isinstance(above, Element) else ""


def _box(element: Element) -> Element | None:
    """The largest of the nearest ancestors that has no other image or video of the same kind."""
    box = None
    for ancestor in _ancestors(element, _LEVELS):
        if len(list(islice(ancestor.find_all(element.tag), 2))) > 1 or ancestor.tag in {"body", "main"}:
            break
        box = ancestor
    return box


def _is_heading(node: Node) -> bool:
    return isinstance(node, Element) and node.tag in _HEADINGS and bool(text_of(node))


def text_of(element: Element) -> str:
    """The visible text of an element, cut at the limit of a context."""
    parts: list[str] = []
    for node in islice(element.descendants, _NODES):
        if isinstance(node, Text):
            parent = node.parent
            if not isinstance(parent, Element) or parent.tag not in _UNSEEN:
                parts.append(node.data[: 4 * CONTEXT])
        elif isinstance(node, Element) and node.tag in _BLOCKS:
            parts.append(" ")
    return squeeze("".join(parts), CONTEXT)


def _ancestors(element: Element, levels: int) -> list[Element]:
    return [node for node in islice(element.ancestors, levels) if isinstance(node, Element)]
