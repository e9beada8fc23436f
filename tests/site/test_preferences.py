"""The choices of a reader survive in a cookie, which can hold nothing dangerous."""

from __future__ import annotations

import pytest

from periplus.site.preferences import SIZES, Preferences, decode
from web.engines import FakeEngine
from web.serving import searching
from web.test_hostile import NAUGHTY, PAYLOADS

CHOSEN = Preferences(theme="dark", keys=False, size=50, new_tab=True)


@pytest.mark.parametrize("chosen", [CHOSEN, Preferences(), Preferences(theme="light"), Preferences(size=10)])
def test_choices_are_read_as_they_were_written(chosen: Preferences) -> None:
    assert decode(chosen.encode()) == chosen


def test_the_cookie_is_short_and_only_has_what_was_changed() -> None:
    assert Preferences().encode() == ""
    assert CHOSEN.encode() == "theme-dark.keys-off.size-50.tab-new"


@pytest.mark.parametrize(
    "value",
    ["", "theme-red", "size-7", "size-9999999999", "size--1", "keys-maybe", "theme", "...", "a-b." * 30 + "theme-dark"],
)
def test_unknown_choices_are_the_default(value: str) -> None:
    assert decode(value) == Preferences()


def test_sizes_are_those_that_can_be_searched_for() -> None:
    assert all(1 <= size <= 100 for size in SIZES)


def test_no_cookie_can_break_a_page() -> None:
    with searching(FakeEngine()) as site:
        plain = site.get("/help").text
        for text in [*PAYLOADS[:100], *NAUGHTY]:
            value = "".join(character for character in text if " " <= character < "\x7f")
            for cookie in (f"settings={value}", f"settings=theme-{value}", f'x; settings="{value}"', value):
                answer = site.get("/help", {"Cookie": cookie})
                assert (answer.status, answer.text) == (200, plain), cookie


def test_the_page_has_the_theme_that_was_chosen() -> None:
    with searching(FakeEngine()) as site:
        dark = site.get("/nowhere", {"Cookie": "other=1; settings=theme-dark.keys-off"}).page
        assert dark.select("html")[0].attrs["data-theme"] == "dark"
        assert dark.select("html")[0].attrs["data-keys"] == "off"
        assert "media" not in dark.select("link[href^='/static/dark.']")[0].attrs
        light = site.get("/", {"Cookie": "settings=theme-light"}).page
        assert not light.select("link[href^='/static/dark.']")
        system = site.get("/").page
        assert not {"data-theme", "data-keys"} & set(system.select("html")[0].attrs)
        assert system.select("link[href^='/static/dark.']")[0].attrs["media"] == "(prefers-color-scheme: dark)"
