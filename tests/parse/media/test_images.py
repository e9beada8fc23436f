"""Which images of a page can be searched, under which URL, and by which words?"""

from __future__ import annotations

import time

import pytest

from parse.documents import parsed
from periplus.model import Image
from periplus.parse.limits import CONTEXT, IMAGE_WORDS, IMAGES

FOLDER = "https://example.org/docs/"


def images(html: str) -> list[Image]:
    return list(parsed(html).images)


def urls(html: str) -> list[str]:
    return [image.url.removeprefix(FOLDER) for image in images(html)]


def context(html: str) -> str:
    (image,) = images(html)
    return image.context


# -- the words of an image --------------------------------------------------------------------------------------------


def test_an_image_has_its_alternative_text_and_its_caption() -> None:
    html = "<figure><img src=a.png alt='The mole'><figcaption>The mole of <b>Ostia</b>,\n 42 AD</figcaption></figure>"
    assert images(html) == [Image(FOLDER + "a.png", "The mole", "The mole of Ostia, 42 AD")]


def test_the_title_of_an_image_replaces_a_missing_alternative_text() -> None:
    assert images("<img src=a.png title='The mole'>") == [Image(FOLDER + "a.png", "The mole")]
    assert images("<img src=a.png alt='A ship' title='The Isis in harbour'>") == [
        Image(FOLDER + "a.png", "A ship", "The Isis in harbour")
    ]


@pytest.mark.parametrize(
    "html",
    [
        "<div class=wp-caption><img src=a.png alt=x-ray><p class=wp-caption-text>The old mole</p></div>",
        "<div class='thumb tright'><a href=/x><img src=a.png alt=x-ray></a><div>The old mole</div></div>",
        "<figure><a href=/x><img src=a.png alt=x-ray></a>The old mole</figure>",
        "<p>The old <img src=a.png alt=x-ray> mole</p>",
        "<table><tr><td><img src=a.png alt=x-ray> The old mole</td></tr></table>",
        "<h2>The old mole</h2><div><img src=a.png alt=x-ray></div>",
        "<h2><a href=/y>The old mole</a></h2><p>Text.</p><p><img src=a.png alt=x-ray></p>",
        "<section><h3>The old mole</h3></section><section><img src=a.png alt=x-ray></section>",
    ],
)
def test_the_text_around_an_image_is_its_context(html: str) -> None:
    assert context(f"<body><h1>Harbours</h1>{html}") == "The old mole"


def test_the_nearest_heading_is_found_above_other_blocks() -> None:
    html = "<h1>Harbours</h1><h2>Ostia</h2><p>Text.</p><h2>Puteoli</h2><div><div><img src=a.png alt=Mole></div></div>"
    assert context(html) == "Puteoli"


def test_a_box_with_an_image_and_a_heading_is_described_by_its_own_heading() -> None:
    boxes = "".join(
        f"<div class=teaser><a href=/{name}><div><img src={name}.png alt='In summer'></div><h3>{name}</h3></a></div>"
        for name in ("Ostia", "Puteoli", "Portus")
    )
    page = images(f"<h2>Read more</h2><div>{boxes}</div>")
    assert [image.context for image in page] == ["Ostia", "Puteoli", "Portus"]


def test_an_alternative_text_like_a_file_name_is_split_into_words() -> None:
    page = images(
        "<img src=1.png alt=mole_of_ostia><img src=2.png alt=Mole.png><img src=3.png alt=../_images/old-mole.png>"
    )
    assert [image.words for image in page] == ["mole of ostia", "Mole", "old mole"]


def test_context_that_only_repeats_the_words_is_left_out() -> None:
    assert images("<p><img src=a.png alt='The mole'> the Mole</p>") == [Image(FOLDER + "a.png", "The mole")]


def test_an_image_without_alternative_text_is_found_by_its_caption_or_file_name() -> None:
    assert images("<figure><img src=1.png><figcaption>The mole</figcaption></figure>") == [
        Image(FOLDER + "1.png", "", "The mole")
    ]
    assert images("<img src=old-lighthouse.png>") == [Image(FOLDER + "old-lighthouse.png", "")]


def test_the_text_around_alone_does_not_make_an_image_searchable() -> None:
    assert images("<h2>Harbours</h2><p>A long paragraph <img src=1.png alt=''> with a decoration.</p>") == []


@pytest.mark.parametrize("alt", ["image", "Photo", "IMG_1234.JPG", "DSC00012", "...", "1", "screenshot"])
def test_an_alternative_text_that_says_nothing_does_not_count(alt: str) -> None:
    assert images(f"<img src=1.png alt='{alt}'>") == []
    assert images(f"<img src=lighthouse.png alt='{alt}'>") == [Image(FOLDER + "lighthouse.png", "")]


# -- the URL of an image ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attributes",
    [
        "src=a.png",
        "src=spacer.gif data-src=a.png",
        "src='data:image/gif;base64,xx' data-original=a.png",
        "data-lazy-src=a.png src=blank.gif",
        "src=s.png srcset='s.png 320w, a.png 1280w, huge.png 6000w'",
        "src=s.png srcset='s.png, a.png 2x'",
        "src='data:image/gif;base64,xx' data-srcset='s.png 320w,a.png 640w'",
        "srcset='data:image/gif;base64,xx 1w, a.png 640w'",
        "src=a.png srcset='broken nonsense here'",
        "src=a.png srcset='data:image/gif;base64,xx 900w'",
    ],
)
def test_the_largest_sensible_file_of_an_image_is_kept(attributes: str) -> None:
    assert urls(f"<img {attributes} alt='The mole'>") == ["a.png"]


def test_a_picture_without_a_file_of_its_own_has_that_of_its_sources() -> None:
    sources = "<source srcset='s.webp 300w, a.webp 900w' type=image/webp><source srcset=b.png>"
    assert urls(f"<picture>{sources}<img alt='The mole'></picture>") == ["a.webp"]
    assert urls(f"<picture>{sources}<img src=a.png alt='The mole'></picture>") == ["a.png"]


def test_only_images_of_the_web_are_kept() -> None:
    sources = ("data:image/png;base64,xx", "blob:abc", "javascript:alert(1)", "file:///etc/x.png", "http://[bad", "")
    assert urls("".join(f"<img src='{src}' alt='The mole'>" for src in sources)) == []


def test_an_image_that_a_page_shows_twice_is_kept_once_with_its_words() -> None:
    html = "<img src=lighthouse.png><img src=lighthouse.png alt='The lighthouse'>"
    assert images(html) == [Image(FOLDER + "lighthouse.png", "The lighthouse")]


# -- the image that a page names for itself ---------------------------------------------------------------------------


def test_the_image_of_a_page_has_its_title_as_context() -> None:
    named = "<title>Ostia</title><meta property=og:image content=/cover.jpg>"
    assert images(named) == [Image("https://example.org/cover.jpg", "", "Ostia")]
    titled = "<meta property=og:title content='Harbour of Rome'>"
    assert images(named + titled) == [Image("https://example.org/cover.jpg", "", "Harbour of Rome")]


def test_the_image_of_a_page_is_the_one_in_its_text() -> None:
    html = "<title>Ostia</title><meta property=og:image content=/docs/a.png><p><img src=a.png alt='The mole'>"
    assert images(html) == [Image(FOLDER + "a.png", "The mole")]


# -- decoration -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "html",
    [
        "<img src=a.png alt='The mole' width=63>",
        "<img src=a.png alt='The mole' height=1px>",
        "<img src=a.png alt='The mole' style='width:24px;height:24px'>",
        "<img src=a.png alt='Ada' class='user avatar'>",
        "<img src=https://secure.gravatar.com/avatar/f00?s=96 alt='Ada Lovelace'>",
        "<img src=u.png alt='smile' class=emoji>",
        "<img src=a.png alt='Home of Ostia' class=site-logo>",
        "<img src=/img/logo.png alt='Harbours of the world'>",
        "<img src=/img/site_logo@2x.png alt='Harbours of the world'>",
        "<img src=sprite.png alt='Arrows of the menu'>",
        "<img src=spacer.gif alt='Nothing here'>",
        "<img src=https://img.shields.io/badge/build-passing-green.svg alt='build passing'>",
        "<img src=https://www.facebook.com/tr?id=1 alt='tracking of you'>",
        "<img src=/pixel.gif?page=1 alt='Pixel of the counter'>",
        "<img src=icon-print.svg alt='Print this page'>",
        "<img src=/assets/print-icon.svg alt='Print this page'>",
        "<img src=/Icons/T.png alt='Follow our ships'>",
        "<img src=net.png alt=Twitter>",
        "<img src=/img/sg_facebook.svg alt='Follow our ships'>",
        "<img src=/img/googlePlay.png alt='Get our app for ships'>",
        "<img src=/img/socialicons/mail.png alt='Send this page'>",
        "<img src=http://blogs.test/tracker.php?id=1 alt='Top list of blogs'>",
        "<img src=/forum/image.php?u=374506 alt='Picture of Ada'>",
        "<img src=b16x16_window.png alt='List of windows'>",
        "<img src=https://ci.test/badge/main.svg alt='Status of the build'>",
        "<img src=../_images/math/f00.png alt='sin(x)' class=math>",
        "<img src=close-window.svg>",
        "<nav><img src=a.png alt='The mole'></nav>",
        "<footer><p><img src=a.png alt='The mole'></p></footer>",
        "<div role=navigation><img src=a.png alt='The mole'></div>",
        "<button><img src=a.png alt='The mole'></button>",
        "<img src=a.png alt='The mole' aria-hidden=true>",
        "<title>Ostia</title><meta property=og:image content=/img/logo.png>",
    ],
)
def test_decoration_is_left_out(html: str) -> None:
    assert images(html) == []


@pytest.mark.parametrize(
    "html",
    [
        "<img src=a.png alt='The mole' width=64 height=64>",
        "<img src=a.png alt='The mole' width=100%>",
        "<img src=Python-logo.png alt='Logo of the language Python'>",
        "<img src=icons-of-byzantium.png alt='Icons of Byzantium'>",
        "<img src=Facebook-1024.jpg alt='Headquarters in Menlo Park'>",
        "<img src=twitter-users-by-country.png alt='Users by country'>",
        "<img src=a.png alt='Photo of the mole' class='wp-image-12 size-full'>",
        "<article><header><img src=a.png alt='The mole'></header></article>",
        "<img src=a.png alt='灯台'>",
        "<img src=a.png alt='маяк'>",
    ],
)
def test_content_is_kept(html: str) -> None:
    assert len(images(html)) == 1


# -- limits -----------------------------------------------------------------------------------------------------------


def test_words_context_and_number_of_images_are_limited() -> None:
    page = images("".join(f"<p><img src={n}.png alt='{'word ' * 999}'> {'text ' * 999}</p>" for n in range(99)))
    assert len(page) == IMAGES
    assert {len(image.words) for image in page} == {IMAGE_WORDS - 1}
    assert all(0 < len(image.context) <= CONTEXT for image in page)


@pytest.mark.slow
@pytest.mark.parametrize(
    "html",
    [
        "<p>" + "text " * 200_000 + "<img src=a.png alt='The mole'>" * 5_000,
        "<div>" * 5_000 + "<img src=a.png alt='The mole'>" * 5_000,
        "<i>x</i>" * 50_000 + "<img src=a.png alt='The mole'>" * 5_000,
        "<figure>" * 2_000 + "<img src=1.png>" * 5_000 + "<figcaption>x",
        f"<img alt='The mole' srcset='{'a.png 1w,' * 100_000}'>",
        f"<img alt='The mole' src='{'a-' * 2_000}.png'>" * 500,
    ],
    ids=["paragraph", "depth", "siblings", "figures", "srcset", "names"],
)
def test_a_hostile_page_takes_no_longer_than_its_size_allows(html: str) -> None:
    started = time.process_time()
    parsed(html)
    assert time.process_time() - started < 5.0
