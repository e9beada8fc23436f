"""Images and videos are named by their words, their file or their page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from periplus.web.tabs.cards import cards
from web.tabs.media import FILM, PLAN


def test_an_image_has_its_words_its_file_and_its_page() -> None:
    (card,) = cards((PLAN,))
    assert (card.title, card.name, card.host) == (
        "A plan of the harbour of Ostia",
        "ostia plan.png",
        "harbours.example",
    )
    assert (card.link, card.page_link, card.day) == (PLAN.url, PLAN.page_url, "4 Mar 2026")


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.youtube.com/watch?v=1", "YouTube"),
        ("https://youtu.be/1", "YouTube"),
        ("https://player.vimeo.com/video/1", "Vimeo"),
        ("https://geo.dailymotion.com/player.html", "Dailymotion"),
        ("https://tube.example/w/1", "PeerTube"),
        ("https://films.example/harbour.WEBM?a=1", "WEBM file"),
        ("https://notyoutube.com/watch", ""),
        ("https://films.example/watch/1", ""),
    ],
)
def test_the_kind_of_a_video_is_named(url: str, kind: str) -> None:
    assert cards((replace(FILM, url=url),))[0].kind == kind


@pytest.mark.parametrize(
    ("url", "title"), [("https://a.example/b/mole.png", "mole.png"), ("https://a.example/", "Page")]
)
def test_an_image_without_words_has_the_name_of_its_file_or_page(url: str, title: str) -> None:
    assert cards((replace(PLAN, url=url, words=" ", page_title="Page"),))[0].title == title


def test_a_page_without_a_title_is_named_by_its_url() -> None:
    assert cards((replace(PLAN, page_title=" "),))[0].page_title == PLAN.page_url


def test_long_texts_are_cut() -> None:
    (card,) = cards((replace(PLAN, words="a" * 999, context="b" * 999, page_title="c" * 999),))
    assert list(map(len, (card.title, card.context, card.page_title))) == [120, 240, 120]


def test_only_web_addresses_become_links() -> None:
    (card,) = cards((replace(PLAN, url="javascript:alert(1)", page_url="data:text/html,x"),))
    assert (card.link, card.page_link) == ("", "")
