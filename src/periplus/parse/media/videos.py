"""Which videos does a page show, name or link to, and which words describe them?"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

from turbohtml import Element

from periplus.model import Link
from periplus.parse.limits import ADDRESS, CONTEXT, IMAGE_WORDS, squeeze
from periplus.parse.media.images import Found, different, label
from periplus.parse.media.players import is_video_file, watch_url
from periplus.parse.media.surroundings import caption_of, text_around

PLAYERS = ("video", "iframe", "embed", "object", "lite-youtube")  # elements that show a video
_SOURCES = ("src", "data-src", "data-lazy-src", "data")
_NOT_WEB = ("blob:", "data:", "javascript:", "about:")
_PLAYER_TITLE = re.compile(
    r"(?:you ?tube|vimeo|dailymotion|embedded|html5)?\s*(?:video|media)?\s*player\s*", re.IGNORECASE
)
_OBJECT = "VideoObject"
_OBJECT_URLS = ("embedUrl", "contentUrl", "url")
_ANY_OBJECT_URL = re.compile(r'"(?:contentUrl|embedUrl)"\s*:\s*"((?:https?:)?(?:\\?/){2}[^"\s]{4,1000})"')
_MOST_VALUES = 10_000  # of a JSON document that are looked at
# Most links are no videos, and one search tells so.
_MAYBE_VIDEO = re.compile(r"youtu|vimeo|dai\.?ly|media\.ccc|/videos/watch/|\.(?:mp4|webm|ogv|m4v|mov)\b", re.IGNORECASE)


def video_address(address: str) -> str:
    """The URL under which a video is known: of its page, else as it is; empty when it is not usable."""
    address = address.strip()
    if not address or len(address) > ADDRESS or address.lower().startswith(_NOT_WEB):
        return ""
    return watch_url(address) or address


def read_player(element: Element) -> Found | None:
    """A ``<video>``, or the frame of a known player; None for other frames."""
    address = next(filter(None, map(video_address, _addresses(element))), "")
    if not address:
        return None
    names = ("title", "aria-label", "playlabel")
    words = next((text for name in names if (text := _title(element.attr(name)))), "")
    return Found(address, words, different(caption_of(element) or text_around(element), words))


def _title(text: str | None) -> str:
    """The title of a video; empty when it is only the name of the player."""
    return "" if text and _PLAYER_TITLE.fullmatch(text) else label(text)


def _addresses(element: Element) -> Iterator[str]:
    if element.tag == "lite-youtube":
        yield f"https://youtu.be/{element.attr('videoid') or ''}"
        return
    is_video = element.tag == "video"
    for address in filter(None, map(element.attr, _SOURCES)):
        if is_video or watch_url(address.strip()) or is_video_file(address[:ADDRESS]):
            yield address
    if is_video:
        for source in element.find_all("source"):
            yield source.attr("src") or ""


def linked_videos(links: Iterable[Link]) -> Iterator[Found]:
    """The links that lead to the page of a video or to a video file; their text is the title."""
    for link in links:
        if _MAYBE_VIDEO.search(link.target) is None:
            continue
        if (address := watch_url(link.target)) is not None:
            yield Found(address, _title(link.anchor))
        elif is_video_file(link.target):
            yield Found(link.target, _title(link.anchor))


# -- schema.org -------------------------------------------------------------------------------------------------------


def read_video_objects(text: str) -> Iterator[Found]:
    """The videos that a JSON-LD script describes; of invalid JSON only their URLs."""
    if _OBJECT not in text:
        return
    try:
        described = list(_objects(json.loads(text)))
    except (ValueError, RecursionError):
        found = (url.replace("\\/", "/") for url in _ANY_OBJECT_URL.findall(text))
        described = [{"contentUrl": url} for url in found]
    for one in described:
        address = next(filter(None, (_object_address(one.get(name)) for name in _OBJECT_URLS)), "")
        if address:
            words = squeeze(_text(one.get("name")), IMAGE_WORDS)
            yield Found(address, words, different(squeeze(_text(one.get("description")), CONTEXT), words))


def _objects(root: Any) -> Iterator[dict[str, Any]]:
    """The objects of the type VideoObject in a JSON document."""
    waiting, seen = [root], 0
    while waiting and seen < _MOST_VALUES:
        value, seen = waiting.pop(), seen + 1
        if isinstance(value, dict):
            if _OBJECT in (kind if isinstance(kind := value.get("@type"), list) else [kind]):
                yield value
            waiting += list(value.values())[::-1]
        elif isinstance(value, list):
            waiting += value[::-1]


def _object_address(value: Any) -> str:
    """The first URL in a value that names a player or a video file."""
    for one in value if isinstance(value, list) else [value]:
        address = video_address(_text(one))
        if address.startswith(("http:", "https:", "/")):
            return address
    return ""


def _text(value: Any) -> str:
    return unescape(value[: 2 * ADDRESS]) if isinstance(value, str) else ""
