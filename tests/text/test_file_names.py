"""The name of a file tells what it shows, unless a camera or a program chose it."""

from __future__ import annotations

import pytest

from periplus.text.file_names import file_name_words, without_language


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://a.test/img/lighthouse-at-night.jpg", "lighthouse at night"),
        ("https://a.test/GoldenGateBridge.png?w=300", "Golden Gate Bridge"),
        ("https://a.test/wp-content/old_harbour-1024x768.jpeg", "old harbour"),
        ("https://a.test/800px-Caf%C3%A9_de_Flore.jpg", "Café de Flore"),
        ("https://a.test/harbour-150x150@2x.webp", "harbour"),
        ("https://a.test/%D0%BC%D0%B0%D1%8F%D0%BA.png", "маяк"),
        ("https://a.test/MQTT_broker.svg", "MQTT broker"),
        ("https://a.test/talks/tides.webm", "tides"),
        ("https://a.test/images/Old_Mole.jpg/revision/latest/scale-to-width-down/350", "Old Mole"),
    ],
)
def test_a_file_name_is_read_as_words(url: str, words: str) -> None:
    assert file_name_words(url) == words


@pytest.mark.parametrize(
    "name",
    [
        "IMG_20190203.jpg", "DSC00123.JPG", "image1.png", "photo.jpg", "1.jpg", "a8f5f167f44f4964e6c998dee827110c.png",
        "screenshot-2024-05-17.png", "x.gif", "", "untitled.png", "hero-large.jpg", "dQw4w9WgXcQ.mp4", "%FF%FE.png",
    ],
)  # fmt: skip
def test_a_name_that_a_program_chose_has_no_words(name: str) -> None:
    assert file_name_words(f"https://a.test/media/{name}") == ""


def test_a_long_name_is_cut() -> None:
    assert len(file_name_words("https://a.test/" + "harbour-" * 500 + ".png")) <= 100


@pytest.mark.parametrize(
    ("url", "same"),
    [
        ("https://a.test/2.10/de/images/lava.png", "https://a.test/2.10/en/images/lava.png"),
        ("https://a.test/pt_BR/lava.png", "https://a.test/en/lava.png"),
        ("https://a.test/zh-Hans/lava.png", "https://a.test/en/lava.png"),
    ],
)
def test_folders_of_languages_do_not_tell_images_apart(url: str, same: str) -> None:
    assert without_language(url) == without_language(same)


@pytest.mark.parametrize(
    ("url", "other"),
    [
        ("https://de.test/x/lava.png", "https://en.test/x/lava.png"),
        ("https://a.test/js/lava.png", "https://a.test/en/lava.png"),
        ("https://a.test/de.png", "https://a.test/en.png"),
        ("https://a.test/x?f=/de/", "https://a.test/x?f=/en/"),
        ("https://a.test/deutsch/lava.png", "https://a.test/en/lava.png"),
    ],
)
def test_other_names_tell_images_apart(url: str, other: str) -> None:
    assert without_language(url) != without_language(other)
