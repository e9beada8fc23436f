"""Prepares images and videos for the templates."""

from __future__ import annotations

import re
from typing import NamedTuple

from periplus.model import MediaHit
from periplus.web.display import breadcrumb, moment, short_day, shortened, visible, web_link

_TITLE, _CONTEXT, _NAME = 120, 240, 40  # characters that are shown
_PLAYERS = {  # by the end of the host
    "youtube.com": "YouTube",
    "youtube-nocookie.com": "YouTube",
    "youtu.be": "YouTube",
    "vimeo.com": "Vimeo",
    "dailymotion.com": "Dailymotion",
    "media.ccc.de": "media.ccc.de",
    "archive.org": "Internet Archive",
    "twitch.tv": "Twitch",
}
_PEERTUBE = re.compile(r"/(?:videos/(?:embed|watch)|w)/", re.IGNORECASE)
_FILE = re.compile(r"\.(mp4|webm|ogv|ogg|m4v|mov|mkv|avi)$", re.IGNORECASE)


class Card(NamedTuple):
    """An image or video, ready for the template."""

    link: str  # of the image or video; empty when its URL is not http or https
    title: str  # alternative text or title; never empty
    name: str  # of the file
    kind: str  # of a video, such as YouTube; of an image, such as PNG
    context: str  # text around it
    page_link: str
    page_title: str
    host: str  # of the page
    day: str  # when the page was published or modified; empty: unknown
    moment: str


def cards(hits: tuple[MediaHit, ...]) -> list[Card]:
    """The images or videos of one page of results."""
    return [_card(hit) for hit in hits]


def _card(hit: MediaHit) -> Card:
    host, name = _host_and_name(hit.url)
    page_title = shortened(hit.page_title.strip() or hit.page_url, _TITLE)
    words = shortened(hit.words, _TITLE).strip()
    return Card(
        link=web_link(hit.url),
        title=words or name or page_title,
        name=shortened(name, _NAME),
        kind=_kind(host, hit.url, name),
        context=shortened(hit.context, _CONTEXT).strip(),
        page_link=web_link(hit.page_url),
        page_title=page_title,
        host=breadcrumb(hit.page_url)[0] or visible(hit.host),
        day=short_day(hit.date or 0.0),
        moment=moment(hit.date or 0.0),
    )


def _host_and_name(url: str) -> tuple[str, str]:
    """The host and the last part of the path."""
    host, crumbs = breadcrumb(url)
    return host.lower(), next((crumb for crumb in reversed(crumbs) if not crumb.startswith("?")), "")


def _kind(host: str, url: str, name: str) -> str:
    for player, title in _PLAYERS.items():
        if host == player or host.endswith(f".{player}"):
            return title
    if _FILE.search(name):
        return f"{name.rpartition('.')[2].upper()} file"
    return "PeerTube" if _PEERTUBE.search(url) else ""
