"""Which videos does a page show or link to, and which words describe them?"""

from __future__ import annotations

import pytest

from parse.documents import parsed
from periplus.model import Video
from periplus.parse.limits import CONTEXT, IMAGE_WORDS, VIDEOS

FOLDER = "https://example.org/docs/"
WATCH = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"
EMBED = "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ"


def videos(html: str) -> list[Video]:
    return list(parsed(html).videos)


def test_a_video_has_its_title_and_caption() -> None:
    caption = "<figcaption>The tide at <i>Ostia</i></figcaption>"
    assert videos(f"<figure><video src=a.mp4 title=Tides></video>{caption}</figure>") == [
        Video(FOLDER + "a.mp4", "Tides", "The tide at Ostia")
    ]
    assert videos(f"<figure><video aria-label=Tides><source src=a.webm></video>{caption}</figure>") == [
        Video(FOLDER + "a.webm", "Tides", "The tide at Ostia")
    ]


def test_a_video_in_several_formats_is_one_video() -> None:
    html = "<video title=Tides><source src=a.webm><source src=a.mp4></video>"
    assert videos(html) == [Video(FOLDER + "a.webm", "Tides")]


@pytest.mark.parametrize(
    "markup",
    [
        f"<iframe src={EMBED} title='Tides at Ostia'></iframe>",
        f"<iframe data-src={EMBED} title='Tides at Ostia'></iframe>",
        f"<iframe src=about:blank data-lazy-src={EMBED} title='Tides at Ostia'></iframe>",
        f"<embed src={EMBED} title='Tides at Ostia'>",
        f"<object data={EMBED} title='Tides at Ostia'></object>",
        "<lite-youtube videoid=dQw4w9WgXcQ title='Tides at Ostia'></lite-youtube>",
        "<p><a href=https://youtu.be/dQw4w9WgXcQ>Tides at Ostia</a>",
    ],
)
def test_a_player_or_link_leads_to_the_page_of_the_video(markup: str) -> None:
    assert videos(markup) == [Video(WATCH, "Tides at Ostia")]


def test_a_player_without_a_title_has_the_heading_above_it() -> None:
    html = f"<h2>Tides at Ostia</h2><div><iframe src={EMBED} title='YouTube video player'></iframe></div>"
    assert videos(html) == [Video(WATCH, "", "Tides at Ostia")]


def test_a_link_whose_text_is_its_url_has_no_title() -> None:
    assert videos("<p><a href=https://youtu.be/dQw4w9WgXcQ>https://youtu.be/dQw4w9WgXcQ</a>") == [Video(WATCH, "")]


def test_a_link_to_a_video_file_is_a_video() -> None:
    html = "<p>See <a href=tides.webm>the tides at Ostia</a> or <a href=tides.txt>read</a>."
    assert videos(html) == [Video(FOLDER + "tides.webm", "the tides at Ostia")]


def test_a_video_that_is_shown_and_linked_is_kept_once() -> None:
    html = f"<iframe src={EMBED}></iframe><p><a href={WATCH}>Tides at Ostia</a>"
    assert videos(html) == [Video(WATCH, "Tides at Ostia")]


def test_frames_that_are_no_players_are_left_out() -> None:
    html = "<iframe src=/ads></iframe><iframe src=https://maps.test/embed/1></iframe><video src=blob:x></video>"
    assert videos(html + "<video src='data:video/mp4;base64,xx'></video><iframe></iframe>") == []


def test_the_video_of_a_page_has_its_title() -> None:
    named = f"<title>Ostia</title><meta property=og:title content=Tides><meta property=og:video content={EMBED}>"
    assert videos(named) == [Video(WATCH, "Tides")]
    assert videos("<title>Ostia</title><meta property=og:video content=/t.mp4>") == [
        Video("https://example.org/t.mp4", "Ostia")
    ]


def test_a_video_object_has_name_and_description() -> None:
    data = (
        '{"@graph": [{"@type": ["VideoObject"], "name": "Tides", "description": "Filmed at Ostia.",'
        r'"embedUrl": "https:\/\/www.youtube.com\/embed\/dQw4w9WgXcQ", "uploadDate": "2024-05-17"}]}'
    )
    page = f'<script type="application/ld+json">{data}</script>'
    assert videos(page) == [Video(WATCH, "Tides", "Filmed at Ostia.")]
    assert videos(f"{page}<iframe src={EMBED}></iframe>") == [Video(WATCH, "Tides", "Filmed at Ostia.")]


@pytest.mark.parametrize(
    "data",
    [
        '{"@type": "VideoObject", "contentUrl": "https://a.test/t.mp4",}',
        '{"@type": "VideoObject", "name": 7, "description": null, "contentUrl": "https://a.test/t.mp4"}',
        '[[{"video": {"@type": "VideoObject", "url": 1, "contentUrl": ["x", "https://a.test/t.mp4"]}}]]',
    ],
)
def test_a_broken_video_object_still_names_its_file(data: str) -> None:
    assert videos(f'<script type="application/ld+json">{data}</script>') == [Video("https://a.test/t.mp4", "")]


def test_a_hostile_video_object_is_ignored() -> None:
    data = '{"@type": "VideoObject", "contentUrl": "javascript:alert(1)", "x": ' + "[" * 100_000
    page = parsed(f'<p>words</p><script type="application/ld+json">{data}</script>')
    assert (page.videos, page.text, page.failed_extractors) == ((), "words", ())


def test_words_context_and_number_of_videos_are_limited() -> None:
    page = videos(
        "".join(f"<p><video src={n}.mp4 title='{'wave ' * 999}'></video>{'tide ' * 999}</p>" for n in range(99))
    )
    assert len(page) == VIDEOS
    assert all(0 < len(video.words) <= IMAGE_WORDS and 0 < len(video.context) <= CONTEXT for video in page)
