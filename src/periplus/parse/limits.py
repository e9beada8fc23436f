"""The maximum length of every field of a page, in characters.

A hostile page must not fill the memory or the index. The limits are far above what normal pages use.
"""

from __future__ import annotations

TITLE = 1_000
DESCRIPTION = 2_000
KEYWORDS = 1_000
HEADING = 300
HEADINGS = 64  # count, in document order
ANCHOR = 200
CATEGORY = 100
CATEGORIES = 32  # count
IMAGE_WORDS = 200  # also of the title of a video
CONTEXT = 200  # the caption of an image or video, or the text around it
IMAGES = 32  # count
VIDEOS = 16  # count
LANGUAGE = 35  # RFC 5646 requires storage for tags of this length
TEXT = 2_000_000
ADDRESS = 4_096  # of an href; every relative link would repeat a longer base


def squeeze(text: str, limit: int) -> str:
    """*text* with single spaces between its words, cut at *limit* characters."""
    words = " ".join(text.split())
    return words if len(words) <= limit else words[:limit].rstrip()
