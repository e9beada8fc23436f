"""Parses plain text and unknown XML.

Of XML only the character data is kept: the meaning of the elements is unknown, so they only separate words.
"""

from __future__ import annotations

import re

import turbohtml

from periplus.model import Page
from periplus.parse.limits import TEXT, TITLE, squeeze

# Unclosed markup extends to the end of the input, so that matching takes linear time.
_MARKUP = re.compile(
    r"""<!--.*?(?:-->|\Z)
    | <\?.*?(?:\?>|\Z)
    | <!\[CDATA\[(?P<data>.*?)(?:\]\]>|\Z)
    | <!DOCTYPE[^\[>]*(?:\[.*?(?:\]\s*>|\Z)|>|\Z)
    | <[^>]*(?:>|\Z)
    | [^<]+
    """,
    re.DOTALL | re.VERBOSE,
)


def read_text(text: str) -> Page:
    """A page of plain text; its first line is the title."""
    lines = [words for line in _without_nul(text).splitlines() if (words := " ".join(line.split()))]
    if not lines:
        return Page()
    return Page(title=squeeze(lines[0], TITLE), text="\n".join(lines)[:TEXT].rstrip())


def read_xml(text: str) -> Page:
    """A page with the character data of an XML document."""
    parts = [
        data if (data := found["data"]) is not None else turbohtml.unescape(found[0])
        for found in _MARKUP.finditer(text)
        if found["data"] is not None or not found[0].startswith("<")
    ]
    return read_text("\n".join(parts))


def _without_nul(text: str) -> str:
    return text.replace("\0", "") if "\0" in text else text
