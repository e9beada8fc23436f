"""Which page shows a video, given the URL of its player?"""

from __future__ import annotations

import pytest

from periplus.parse.media.players import is_video_file, watch_url

YOUTUBE = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
UUID = "9c9de5e8-0a1e-484a-b099-e80766180a6d"


@pytest.mark.parametrize(
    ("address", "watched"),
    [
        ("https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0", YOUTUBE),
        ("//www.youtube-nocookie.com/embed/dQw4w9WgXcQ", YOUTUBE),
        ("http://m.youtube.com/watch?feature=x&v=dQw4w9WgXcQ&t=4", YOUTUBE),
        ("https://youtu.be/dQw4w9WgXcQ?t=4", YOUTUBE),
        ("https://youtube.com/shorts/dQw4w9WgXcQ", YOUTUBE),
        ("https://www.youtube.com/v/dQw4w9WgXcQ&hl=en", YOUTUBE),
        ("https://player.vimeo.com/video/76979871?h=8272103f6e", "https://vimeo.com/76979871"),
        ("https://vimeo.com/76979871", "https://vimeo.com/76979871"),
        ("https://www.dailymotion.com/embed/video/x7tgad0", "https://www.dailymotion.com/video/x7tgad0"),
        ("https://geo.dailymotion.com/player/x1.html?video=x7tgad0", "https://www.dailymotion.com/video/x7tgad0"),
        ("https://dai.ly/x7tgad0", "https://www.dailymotion.com/video/x7tgad0"),
        (f"https://tube.test/videos/embed/{UUID}?title=0", f"https://tube.test/videos/watch/{UUID}"),
        (f"https://tube.test/videos/watch/{UUID}", f"https://tube.test/videos/watch/{UUID}"),
        (f"http://tube.test:9000/videos/embed/{UUID}", f"http://tube.test:9000/videos/watch/{UUID}"),
        ("https://media.ccc.de/v/37c3-12142-opening/oembed", "https://media.ccc.de/v/37c3-12142-opening"),
        ("https://media.ccc.de/v/37c3-12142-opening#t=1", "https://media.ccc.de/v/37c3-12142-opening"),
        ("https://archive.org/embed/night_of_the_living_dead", "https://archive.org/details/night_of_the_living_dead"),
        ("https://embed.ted.com/talks/lang/de/a_talk", "https://www.ted.com/talks/a_talk"),
        ("https://player.twitch.tv/?autoplay=false&video=v106400740", "https://www.twitch.tv/videos/106400740"),
    ],
)
def test_a_player_is_known_by_the_page_that_shows_its_video(address: str, watched: str) -> None:
    assert watch_url(address) == watched


@pytest.mark.parametrize(
    "address",
    [
        "https://www.youtube.com/", "https://www.youtube.com/@channel", "https://www.youtube.com/embed/videoseries?list=PL1",
        "https://www.youtube.com/watch?v=short", "https://vimeo.com/about", "https://vimeo.com/channels/12",
        "https://evil.test/?u=https://www.youtube.com/embed/dQw4w9WgXcQ", "https://notyoutube.com/embed/dQw4w9WgXcQ",
        "https://youtube.com.evil.test/embed/dQw4w9WgXcQ", "https://archive.org/details/a_book", "/embed/dQw4w9WgXcQ",
        "https://media.ccc.de/c/37c3", "javascript:alert(1)", "", "https://tube.test/videos/embed/",
    ],
)  # fmt: skip
def test_other_addresses_show_no_video(address: str) -> None:
    assert watch_url(address) is None


@pytest.mark.parametrize(
    ("url", "is_file"),
    [
        ("https://a.test/tides.mp4", True),
        ("https://a.test/tides.WEBM?download=1", True),
        ("https://a.test/tides.ogv", True),
        ("https://a.test/tides.m4v", True),
        ("https://a.test/tides.mov#t=3", True),
        ("https://a.test/tides.mp4.torrent", False),
        ("https://a.test/mp4", False),
        ("https://a.test/?file=tides.mp4", False),
        ("https://a.test/tides.mp3", False),
    ],
)
def test_a_video_file_is_known_by_its_name(url: str, is_file: bool) -> None:
    assert is_video_file(url) is is_file
