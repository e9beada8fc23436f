"""The colour of a site is readable on its backgrounds, by day and by night."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from periplus.config import SiteLook
from periplus.config.colours import DARK_GROUNDS, LIGHT_GROUNDS, LOWEST, contrast, readable, text_on
from periplus.site import assets

STATIC = Path(assets.__file__).parent / "static"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("#000000", "#ffffff", 21.0),
        ("#777777", "#ffffff", 4.48),
        ("#1a6f78", "#fbfaf6", 5.60),
        ("#fff", "#ffffff", 1.0),
    ],
)
def test_the_contrast_is_that_of_wcag(one: str, other: str, expected: float) -> None:
    assert contrast(one, other) == contrast(other, one) == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize("colour", ["#ffcc00", "#f00", "#000000", "#ffffff", "#7f7f7f", "#123456"])
def test_a_colour_can_be_made_readable_on_every_background(colour: str) -> None:
    for grounds in (LIGHT_GROUNDS, DARK_GROUNDS):
        assert min(contrast(readable(colour, grounds), ground) for ground in grounds) >= LOWEST


@pytest.mark.parametrize("colour", ["#ffcc00", "#000000", "#777777", "#7f7f7f", "#1a6f78"])
def test_text_on_a_colour_is_readable(colour: str) -> None:
    assert contrast(text_on(colour), colour) >= LOWEST


def test_a_readable_colour_is_not_changed() -> None:
    assert readable("#1a6f78", LIGHT_GROUNDS) == "#1a6f78"


@pytest.mark.parametrize("colour", ["", "#063", "#1A6F78", "#8b0000"])
def test_a_site_can_have_its_colour(colour: str) -> None:
    assert SiteLook(accent=colour).accent == colour.lower()


@pytest.mark.parametrize("colour", ["red", "#12", "#12345g", "1a6f78", "#1a6f78; }", "url(x)"])
def test_a_colour_that_is_no_hex_colour_is_refused(colour: str) -> None:
    with pytest.raises(ValidationError, match="form #rrggbb"):
        SiteLook(accent=colour)


def test_a_colour_that_is_hard_to_read_is_refused_with_one_that_is_not() -> None:
    with pytest.raises(ValidationError, match=r"contrast of 1\.\d:1 with the light background") as refused:
        SiteLook(accent="#ffcc00")
    better = re.search(r"for example (#[0-9a-f]{6})", str(refused.value))
    assert better
    assert SiteLook(accent=better[1]).accent == better[1]
    with pytest.raises(ValidationError, match="dark background"):
        SiteLook(accent_dark="#1a2735")


def test_the_backgrounds_are_those_of_the_style_sheets() -> None:
    for sheet, grounds in (("style.css", LIGHT_GROUNDS), ("dark.css", DARK_GROUNDS)):
        text = (STATIC / sheet).read_text(encoding="utf-8")
        found = {name: re.search(rf"--{name}: (#[0-9a-f]{{6}})", text) for name in ("ground", "raised")}
        assert tuple(match[1] for match in found.values() if match) == grounds
