"""Which images of a page show something, under which URL, and which words describe them?

An image counts when it has an alternative text, a title, a caption or a telling file name. Icons, logos of the site,
avatars, badges, tracking pixels and images of menus do not count. What a whole site repeats is found by the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from turbohtml import Element

from periplus.parse.limits import ADDRESS, IMAGE_WORDS, squeeze
from periplus.parse.media.surroundings import caption_of, text_around
from periplus.text.file_names import file_name_words, telling_words

_SMALL = 64  # pixels: smaller images are icons
_SENSIBLE_WIDTH = 2_000  # pixels; larger files are for print
_PIXELS = re.compile(r"\s*(\d{1,5})(?:\.\d+)?(?:px)?\s*")
_STYLED_SMALL = re.compile(r"(?<![-\w])(?:width|height)\s*:\s*(?:[0-5]?\d|6[0-3])(?:\.\d+)?px", re.IGNORECASE)
_READ = 4_096  # characters of an attribute
_LAZY_SETS = ("data-srcset", "data-lazy-srcset")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-orig-file")
_DESCRIPTOR = re.compile(r"(\d{1,5}(?:\.\d{1,3})?)([wx])(?:,(\S+)?)?")
_WIDTH_OF_1X = 640  # pixels, for files that are described by a density such as 2x
_NOT_WEB = re.compile(r"\s*(?!https?:)[a-z][a-z0-9+.-]*:", re.IGNORECASE)  # data:, blob:, javascript:
_NO_CONTENT = "nav, footer, button, [role=navigation], [role=contentinfo], [aria-hidden=true]"
_CLASS = re.compile(
    r"avatar|emoji|smil(?:ey|ie)|sprite|spinner|(?<![a-z])(?:logo|icon|badge|captcha|math|latex)s?(?![a-z])",
    re.IGNORECASE,
)
_SERVICE = re.compile(
    r"(?:https?:)?//(?:[\w.-]*\.)?(?:gravatar\.com|shields\.io|badge\.fury\.io|badgen\.net|codecov\.io|travis-ci\.\w+"
    r"|doubleclick\.net|google-analytics\.com|googlesyndication\.com|scorecardresearch\.com|quantserve\.com|stats\.wp\.com"
    r"|pixel\.wp\.com|i\.creativecommons\.org|adnxs\.com|amazon-adsystem\.com|statcounter\.com)/|facebook\.com/tr\b|/(?:hit|count)\.gif|/icons?/|/badges?/|/_images/math/"
    r"|(?<!\d)(?:16|22|24|32|48)x(?:16|22|24|32|48)(?!\d)",
    re.IGNORECASE,
)
_SHARING = re.compile(  # buttons for other services, whose whole file name is that of the service
    r"/(?:(?:[a-z]{1,3}|dummy|follow|share|social|square)[-_])?(?:facebook|twitter|instagram|whatsapp|linkedin|youtube|xing|pinterest|telegram"
    r"|rss|(?:apple[-_]?)?app[-_]?store|google[-_]?play)(?:[-_]?(?:app|badge|black|button|circle|download|gr[ae]y|share|square|white|\d{2,3}))*"
    r"\.(?:png|gif|svg|webp)(?:$|[?#])|/social[-_]?(?:icons|media)/|/track(?:er|ing)?\.(?:php|gif|aspx?)\b|/image\.php\?u=",
    re.IGNORECASE,
)
_DRAWING = re.compile(r"\.svg(?:$|[?#])", re.IGNORECASE)  # without words of its own it is a symbol
_IS_URL = re.compile(r"\s*(?:https?:|www\.|[\w.-]{3,60}\.\w{2,6}/)", re.IGNORECASE)
_ONE_WORD = re.compile(r"\S*(?:_|-[^\s-]*-|\.\w{3,4}$)\S*")  # `old_mole`, `mole-of-ostia`, `mole.png`
_FILE = re.compile(
    r"/(?:(?:[^/?]*[-_])?icons?(?=[.@])|(?:icon|ico|btn|button|sprites?|spacer|pixel|blank|bullet|emoji|smiley|avatar|badge|transparent|loading|clear|1x1)"
    r"|(?:(?:site|header|footer|main|company|brand|small|white|black|dark|light|new|print|nav|the|my)[-_.]?){0,3}logo"
    r"(?:[-_.@]?(?:site|header|footer|main|small|large|white|black|dark|light|new|print|\d+x?|x|min|full|final|web|retina)){0,3})"
    r"(?![a-z])[^/?]*\.(?:png|jpe?g|gif|svg|webp|avif|ico)(?:$|[?#])",
    re.IGNORECASE,
)


class Found(NamedTuple):
    """An image or video as a page has it; the address is as written."""

    address: str
    words: str
    context: str = ""


def read_image(element: Element) -> Found | None:
    """An ``<img>`` that can be searched, or None."""
    address = _address(element)
    if address is None or is_decoration(address) or _has_no_content(element):
        return None
    alt, title = (label(element.attr(name)) for name in ("alt", "title"))
    words, caption = alt or title, caption_of(element)
    if not (words or caption or (file_name_words(address) and not _DRAWING.search(address))):
        return None
    other_title = title if title.lower() not in words.lower() else ""
    return Found(address, words, different(caption or other_title or text_around(element), words))


def is_decoration(address: str) -> bool:
    """Whether the URL shows that an image is a logo, icon, badge, avatar or tracking pixel."""
    return any(pattern.search(f"/{address}") for pattern in (_SERVICE, _FILE, _SHARING))


def different(context: str, words: str) -> str:
    """The context of an image or video; empty when it only repeats the words."""
    return "" if context.lower() in words.lower() else context


def label(text: str | None) -> str:
    """An alternative text or title; empty when it is a URL, a file name of a camera, or a word such as "image"."""
    if not text or _IS_URL.match(text):
        return ""
    found = squeeze(text[:_READ], IMAGE_WORDS)
    if " " not in found:
        found = found.rpartition("/")[2]  # of a path such as `../_images/mole.png`
    words = telling_words(found)
    if not any(len(word) > 1 or not word.isascii() for word in words):
        return ""
    return " ".join(words) if _ONE_WORD.fullmatch(found) else found


def _has_no_content(element: Element) -> bool:
    if any(_is_small(element.attr(name)) for name in ("width", "height")):
        return True
    if (style := element.attr("style")) and _STYLED_SMALL.search(style[:_READ]):
        return True
    names = f"{element.attr('class') or ''} {element.attr('id') or ''}"[:_READ]
    return _CLASS.search(names) is not None or element.closest(_NO_CONTENT) is not None


def _is_small(pixels: str | None) -> bool:
    found = _PIXELS.fullmatch(pixels) if pixels else None
    return found is not None and int(found[1]) < _SMALL


# -- the file of an image ---------------------------------------------------------------------------------------------


def _address(element: Element) -> str | None:
    """The largest sensible file of an image: pages that load images late have a placeholder in ``src``."""
    return next((address.strip() for address in _addresses(element) if _is_usable(address)), None)


def _addresses(element: Element) -> Iterator[str]:
    for names, of_set in ((_LAZY_SETS, True), (_LAZY, False), (("srcset",), True), (("src",), False)):
        for value in filter(None, map(element.attr, names)):
            yield _largest(value) if of_set else value
    parent = element.parent
    if isinstance(parent, Element) and parent.tag == "picture":
        for source in parent.find_all("source"):
            yield _largest(source.attr("srcset") or source.attr("data-srcset") or "")


def _is_usable(address: str) -> bool:
    return bool(address.strip()) and len(address) <= ADDRESS and _NOT_WEB.match(address) is None


def _largest(source_set: str) -> str:
    """The largest file of a ``srcset`` that is not too large; else the smallest."""
    files = dict(_files(source_set[: 4 * _READ].split()))
    sensible = [(width, address) for address, width in files.items() if width <= _SENSIBLE_WIDTH]
    if sensible:
        return max(sensible, key=lambda one: one[0])[1]
    return min(files, key=files.__getitem__, default="")


def _files(tokens: Iterable[str]) -> Iterator[tuple[str, float]]:
    """Each file of a ``srcset`` with its width in pixels."""
    waiting = ""
    for token in tokens:
        described = _DESCRIPTOR.fullmatch(token)
        if described is None:
            if waiting and not waiting.endswith(","):
                return  # no ``srcset``
            if _is_usable(waiting):
                yield waiting.rstrip(","), float(_WIDTH_OF_1X)
            waiting = token
            continue
        if _is_usable(waiting):
            yield waiting, float(described[1]) * (_WIDTH_OF_1X if described[2] == "x" else 1)
        waiting = described[3] or ""
    if _is_usable(waiting):
        yield waiting.rstrip(","), float(_WIDTH_OF_1X)
