"""How much of a page is kept?

All in characters. A page is written by a stranger: every field has an end, so one page can never fill the memory or
the index. The limits are far above what honest pages use.
"""

from __future__ import annotations

TITLE = 1_000
DESCRIPTION = 2_000
KEYWORDS = 1_000
HEADING = 300
HEADINGS = 64  # of them, in document order
ANCHOR = 200
CATEGORY = 100
CATEGORIES = 32  # of them
IMAGE_WORDS = 200
IMAGES = 24  # of them
VIDEOS = 8  # of them
LANGUAGE = 35  # the longest tag RFC 5646 asks anyone to store
TEXT = 2_000_000
ADDRESS = 4_096  # of an href; a longer base would also be repeated in every relative link


def squeeze(text: str, limit: int) -> str:
    """The words of *text*, one space between them, cut at *limit*."""
    words = " ".join(text.split())
    return words if len(words) <= limit else words[:limit].rstrip()
