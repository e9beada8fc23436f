"""Dates, categories, images and videos are extracted from every vocabulary."""

from __future__ import annotations

import pytest

from parse.documents import parsed
from periplus.model import Image, Video
from periplus.parse.limits import CATEGORIES, IMAGES, VIDEOS

MAY = 1715938200.0  # 2024-05-17T09:30:00Z


@pytest.mark.parametrize(
    "html",
    [
        "<meta property=article:published_time content=2024-05-17T09:30:00Z>",
        "<meta name=DC.date.issued content='2024-05-17T11:30:00+02:00'>",
        "<meta itemprop=datePublished content='Fri, 17 May 2024 09:30:00 GMT'>",
        '<script type="application/ld+json">{"@graph": [{"datePublished": "2024-05-17T09:30:00Z"}]}</script>',
        "<p>on <time datetime=2024-05-17T09:30Z>Friday</time>, not <time datetime=2020-01-01>then</time>",
        "<abbr title=Web>WWW</abbr> <abbr itemprop=datePublished title=2024-05-17T09:30:00Z>Friday</abbr>",
    ],
)
def test_when_a_page_was_published(html: str) -> None:
    assert parsed(html).published == MAY


@pytest.mark.parametrize(
    "html",
    [
        "<meta property=og:updated_time content=2024-05-17T09:30:00Z>",
        '<script type="application/ld+json">{"dateModified":"2024-05-17T09:30:00Z",}</script>',
        "<time itemprop=dateModified datetime=2024-05-17T09:30Z>Friday</time>",
    ],
)
def test_when_a_page_was_changed(html: str) -> None:
    page = parsed(html, last_modified="Mon, 01 Jan 2001 00:00:00 GMT")
    assert (page.modified, page.published) == (MAY, None)


def test_last_modified_is_used_when_the_page_has_no_date() -> None:
    assert parsed("<p>x", last_modified="Fri, 17 May 2024 09:30:00 GMT").modified == MAY


@pytest.mark.parametrize("date", ["", "soon", "0001-01-01", "2024-13-45", "x" * 9_000])
def test_an_invalid_date_is_none(date: str) -> None:
    assert parsed(f"<meta name=date content='{date}'><time datetime='{date}'>", last_modified=date).published is None


def test_categories_come_from_sections_and_tags() -> None:
    page = parsed(
        "<meta property=article:section content=Ports><meta property=article:tag content=Spice>"
        "<meta property=article:tag content='Ports'><meta name=news_keywords content='wind, tide'>"
    )
    assert page.categories == ("Ports", "Spice", "wind", "tide")


def test_images_are_kept_with_their_alternative_text() -> None:
    page = parsed(
        "<meta property=og:image content=/cover.jpg><meta property=og:image:alt content='The fleet'>"
        "<img src=a.png alt='A ship'><img src=b.png alt=''><img src=c.png alt=icon width=16>"
        "<img src=spacer.gif data-src=lazy.jpg alt=Lazy><img src='data:image/png;base64,xx' alt=inline>"
    )
    assert page.images == (
        Image("https://example.org/cover.jpg", "The fleet"),
        Image("https://example.org/docs/a.png", "A ship"),
        Image("https://example.org/docs/lazy.jpg", "Lazy"),
    )


def test_videos_are_kept_as_files_or_players() -> None:
    page = parsed(
        "<video src=/a.mp4 title=Tides></video><video title=Wind><source src=b.webm></video>"
        "<picture><source src=no.jpg></picture><iframe src=//www.youtube.com/embed/dQw4w9WgXcQ title=Storm></iframe>"
        "<iframe src=/advertisement></iframe><video src=blob:abc></video>"
    )
    assert page.videos == (
        Video("https://example.org/a.mp4", "Tides"),
        Video("https://example.org/docs/b.webm", "Wind"),
        Video("https://www.youtube.com/watch?v=dQw4w9WgXcQ", "Storm"),
    )


def test_videos_are_found_in_json_ld() -> None:
    data = r'{"@type": "VideoObject", "name": "x", "contentUrl": "https:\/\/cdn.example.org\/v.mp4"}'
    page = parsed(f'<script type="application/ld+json">{data}</script>')
    assert [video.url for video in page.videos] == ["https://cdn.example.org/v.mp4"]


def test_open_graph_fields_replace_missing_ones() -> None:
    shared = "<meta property=og:title content=Shared><meta property=og:description content=About>"
    page = parsed(shared)
    assert (page.title, page.description) == ("Shared", "About")
    page = parsed(shared + "<title>Own</title><meta name=description content=Mine>")
    assert (page.title, page.description) == ("Own", "Mine")


def test_every_list_is_limited() -> None:
    page = parsed(
        "".join(f"<meta property=article:tag content=tag{n}>" for n in range(500))
        + "".join(f"<img src={n}.png alt='ship {n}'><video src={n}.mp4></video>" for n in range(500))
    )
    assert (len(page.categories), len(page.images), len(page.videos)) == (CATEGORIES, IMAGES, VIDEOS)
