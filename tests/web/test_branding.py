"""An operator gives the site a name, a logo and a colour."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.config import Settings, SiteLook
from periplus.errors import ConfigError
from periplus.web.branding import LARGEST_LOGO, load_branding
from web.engines import HARBOUR, FakeEngine
from web.serving import Site, searching
from web.test_hostile import PAYLOADS, assert_harmless

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><script>alert(1)</script><rect width="8"/></svg>'
PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)
NAME = "The <Harbour> & Coast Library"
PATHS = ["/", "/search?q=harbour", f"/cached?url={HARBOUR.url}", "/nowhere", "/help", "/about", "/settings"]


def look(**values: str) -> Settings:
    return Settings(site=SiteLook.model_validate(values))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    (tmp_path / "logo.svg").write_bytes(SVG)
    settings = look(name=NAME, tagline="All <i>harbours</i>.", logo="logo.svg", accent="#8b0000")
    with searching(FakeEngine(), branding=load_branding(settings, tmp_path)) as served:
        yield served


@pytest.mark.parametrize("path", PATHS)
def test_every_page_has_the_name_and_the_logo(site: Site, path: str) -> None:
    page = site.get(path).page
    assert page.select("title")[0].text.endswith(NAME)
    assert "Periplus" not in page.select("header, main h1, .foot > span")[0].text
    logos = {str(image.attrs["src"]) for image in page.select("img")}
    assert len(logos) == 1
    assert site.get(logos.pop()).body == SVG


def test_the_start_page_has_the_tagline(site: Site) -> None:
    assert site.get("/").page.select(".motto")[0].text == "All <i>harbours</i>."


def test_an_empty_tagline_leaves_no_empty_line(tmp_path: Path) -> None:
    with searching(FakeEngine(), branding=load_branding(look(tagline=""), tmp_path)) as site:
        assert not site.get("/").page.select(".motto")


def test_a_browser_is_told_a_name_of_at_most_16_characters(site: Site) -> None:
    root = ET.fromstring(site.get("/opensearch.xml").text)
    name = "{http://a9.com/-/spec/opensearch/1.1/}"
    assert root.findtext(f"{name}ShortName") == "The <Harbour> & "[:16].strip()
    assert root.findtext(f"{name}Description") == f"Search with {NAME}"
    assert site.get("/").page.select("link[rel=search]")[0].attrs["title"] == NAME


def test_the_feed_has_the_name(site: Site) -> None:
    title = ET.fromstring(site.get("/search.rss?q=x").text).findtext("channel/title")
    assert title == f"x \u2013 {NAME}"


def test_the_colour_comes_as_a_style_sheet_of_the_site(site: Site) -> None:
    sheets = [str(link.attrs["href"]) for link in site.get("/").page.select("link[rel=stylesheet]")]
    light = next(site.get(sheet) for sheet in sheets if "/theme." in sheet)
    dark = next(site.get(sheet) for sheet in sheets if "/theme-dark." in sheet)
    assert light.headers["content-type"] == "text/css; charset=utf-8"
    assert light.text == ":root{--accent:#8b0000;--on-accent:#ffffff;--bar:#8b0000}\n"
    assert re.fullmatch(r":root\{--accent:(#[0-9a-f]{6});--on-accent:#000000;--bar:\1\}\n", dark.text)
    order = [sheet.split(".")[0] for sheet in sheets]
    assert order == ["/static/style", "/static/theme", "/static/dark", "/static/theme-dark"]


def test_without_a_colour_there_is_no_theme(tmp_path: Path) -> None:
    with searching(FakeEngine()) as site:
        assert "theme" not in site.get("/").text
        assert site.get("/static/theme.css").status == 404


def test_a_script_in_a_logo_cannot_run(site: Site) -> None:
    address = str(site.get("/").page.select("img")[0].attrs["src"])
    answer = site.get(address)
    assert answer.headers["content-type"] == "image/svg+xml"
    policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'"
    assert answer.headers["content-security-policy"] == policy
    icon = site.get("/favicon.ico")
    assert (icon.body, icon.headers["content-security-policy"]) == (SVG, policy)
    images = ET.fromstring(site.get("/opensearch.xml").text).iter("{http://a9.com/-/spec/opensearch/1.1/}Image")
    assert [image.attrib["type"] for image in images] == ["image/svg+xml"]


def test_a_logo_may_be_a_png(tmp_path: Path) -> None:
    (tmp_path / "my.logo.PNG").write_bytes(PNG)
    with searching(FakeEngine(), branding=load_branding(look(logo="my.logo.PNG"), tmp_path)) as site:
        answer = site.get(str(site.get("/").page.select("link[rel=icon]")[0].attrs["href"]))
        assert (answer.headers["content-type"], answer.body) == ("image/png", PNG)
        assert site.get("/favicon.ico").headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("logo.svg", None, "does not exist"),
        ("logo.gif", b"GIF89a", "must be an SVG or PNG file"),
        ("logo.png", SVG, "is not a PNG file"),
        ("logo.svg", PNG, "is not an SVG file"),
        ("logo.svg", SVG + b" " * LARGEST_LOGO, "is larger than 256 kB"),
        ("../logo.svg", SVG, "must be in the folder of the collection"),
        ("/etc/logo.svg", None, "must be in the folder of the collection"),
        ("folder.svg", "folder", "cannot be read"),
    ],
)
def test_a_logo_that_cannot_be_shown_is_refused_at_start(
    tmp_path: Path, name: str, content: bytes | str | None, problem: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    if content == "folder":
        (home / name).mkdir()
    elif isinstance(content, bytes):
        (home / name).write_bytes(content)
    with pytest.raises(ConfigError, match=problem) as refused:
        load_branding(look(logo=name), home)
    assert "site.logo" in str(refused.value)


def test_a_link_that_leads_out_of_the_collection_is_not_followed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "secret.svg").write_bytes(SVG)
    (home / "logo.svg").symlink_to(tmp_path / "secret.svg")
    with pytest.raises(ConfigError, match="must be in the folder of the collection"):
        load_branding(look(logo="logo.svg"), home)


def test_no_payload_in_the_name_becomes_markup(tmp_path: Path) -> None:
    for payload in [text[:40] for text in PAYLOADS if text.isprintable()][:10]:
        with searching(FakeEngine(), branding=load_branding(look(name=payload, tagline=payload), tmp_path)) as site:
            page = site.get("/").page
            assert_harmless(page)
            assert page.select(".motto")[0].text.split() == payload.split()
            ET.fromstring(site.get("/opensearch.xml").text)
