"""Knows the video players of the web: which page shows the video of a player, and which URL is a video?"""

from __future__ import annotations

import re

_FILE = re.compile(r"[^?#]*\.(?:mp4|webm|ogv|m4v|mov)(?:[?#]|$)", re.IGNORECASE)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[1-9A-HJ-NP-Za-km-z]{22}"
_YOUTUBE_ID = r"(?!videoseries)(?P<youtube>[\w-]{11})(?![\w-])"
# Each alternative has one named group: the id of the video; `_PAGES` has the page that shows it.
_PLAYER = re.compile(
    r"(?P<scheme>https?:)?//(?:"
    rf"(?:www\.|m\.)?youtube(?:-nocookie)?\.com/(?:(?:embed|shorts|live|v)/|watch\?(?:[^#]*&)?v=){_YOUTUBE_ID}"
    rf"|youtu\.be/{_YOUTUBE_ID.replace('youtube', 'youtu')}"
    r"|(?:www\.)?vimeo\.com/(?P<vimeo>\d{5,12})(?![\w-])|player\.vimeo\.com/video/(?P<vimeo_player>\d{5,12})"
    r"|(?:www\.)?dailymotion\.com/(?:embed/)?video/(?P<dailymotion>[A-Za-z0-9]{5,12})|dai\.ly/(?P<daily>[A-Za-z0-9]{5,12})"
    r"|geo\.dailymotion\.com/player[^?#]*\?(?:[^#]*&)?video=(?P<dailymotion_player>[A-Za-z0-9]{5,12})"
    r"|media\.ccc\.de/v/(?P<ccc>[\w.-]{3,150})"
    r"|archive\.org/embed/(?P<archive>[\w.-]{3,100})"
    r"|embed\.ted\.com/talks/(?:lang/[\w-]{2,8}/)?(?P<ted>\w{3,120})"
    r"|player\.twitch\.tv/\?(?:[^#]*&)?video=v?(?P<twitch>\d{5,14})"
    rf"|(?P<peertube_host>[\w.-]{{4,100}}(?::\d{{1,5}})?)/videos/(?:embed|watch)/(?P<peertube>{_UUID})(?![\w-]))",
    re.ASCII,
)
_PAGES = {
    "youtube": "https://www.youtube.com/watch?v={}",
    "youtu": "https://www.youtube.com/watch?v={}",
    "vimeo": "https://vimeo.com/{}",
    "vimeo_player": "https://vimeo.com/{}",
    "dailymotion": "https://www.dailymotion.com/video/{}",
    "daily": "https://www.dailymotion.com/video/{}",
    "dailymotion_player": "https://www.dailymotion.com/video/{}",
    "ccc": "https://media.ccc.de/v/{}",
    "archive": "https://archive.org/details/{}",
    "ted": "https://www.ted.com/talks/{}",
    "twitch": "https://www.twitch.tv/videos/{}",
}


def watch_url(address: str) -> str | None:
    """The page that shows the video of a player or of a link to a video; None for other addresses."""
    found = _PLAYER.match(address)
    if found is None:
        return None
    if found["peertube"]:
        return f"{found['scheme'] or 'https:'}//{found['peertube_host']}/videos/watch/{found['peertube']}"
    service = str(found.lastgroup)
    return _PAGES[service].format(found[service])


def is_video_file(url: str) -> bool:
    """Whether the path of a URL ends like the name of a video file."""
    return _FILE.match(url) is not None
