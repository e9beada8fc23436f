"""Browsers find the icon and the description of the search engine."""

from __future__ import annotations

import struct
import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest

from web.engines import FakeEngine
from web.serving import Site, searching

NAME = "{http://a9.com/-/spec/opensearch/1.1/}"


@pytest.fixture
def site() -> Iterator[Site]:
    with searching(FakeEngine()) as served:
        yield served


def test_the_description_has_suggestions_and_the_feed(site: Site) -> None:
    root = ET.fromstring(site.get("/opensearch.xml").text)
    urls = {url.attrib["type"]: url.attrib["template"] for url in root.iter(f"{NAME}Url")}
    assert urls["application/x-suggestions+json"] == f"{site.base}/suggest?q={{searchTerms}}"
    assert urls["application/rss+xml"] == f"{site.base}/search.rss?q={{searchTerms}}&page={{startPage?}}"
    assert root.findtext(f"{NAME}ShortName") == "Periplus"
    images = {image.attrib["type"]: image.text for image in root.iter(f"{NAME}Image")}
    assert images == {
        "image/x-icon": f"{site.base}/favicon.ico",
        "image/svg+xml": f"{site.base}/static/logo.svg",
    }


def test_the_icon_is_found_where_every_browser_looks(site: Site) -> None:
    answer = site.get("/favicon.ico")
    assert (answer.status, answer.headers["content-type"]) == (200, "image/x-icon")
    reserved, kind, images = struct.unpack("<HHH", answer.body[:6])
    assert (reserved, kind) == (0, 1)
    assert images >= 2
    assert answer.headers["cache-control"] == "public, max-age=86400"


def test_a_page_names_an_icon_that_scales(site: Site) -> None:
    icon = site.get("/").page.select("link[rel=icon][type='image/svg+xml']")[0]
    assert site.get(str(icon.attrs["href"])).headers["content-type"] == "image/svg+xml"
