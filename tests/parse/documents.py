"""Helpers that make responses and pages for the tests."""

from __future__ import annotations

import lzma
import tarfile
from functools import cache
from typing import Any

from periplus.config import Parsing
from periplus.model import Page, Response
from periplus.parse.limits import (
    ANCHOR,
    CATEGORIES,
    DESCRIPTION,
    HEADING,
    HEADINGS,
    IMAGES,
    KEYWORDS,
    LANGUAGE,
    TEXT,
    TITLE,
    VIDEOS,
)
from periplus.parse.page import PageParser
from periplus.url import Canonicalizer
from shared_data import shared

URL = "https://example.org/docs/guide.html"


def parser(links_per_page: int = 1_000, **settings: Any) -> PageParser:
    return PageParser(Canonicalizer(["utm_*"], ["sid"]), links_per_page=links_per_page, settings=Parsing(**settings))


def answer(body: str | bytes, mime: str = "text/html; charset=utf-8", *, url: str = URL, **headers: str) -> Response:
    content = body.encode() if isinstance(body, str) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response(url, 0.0, status=200, headers={"content-type": mime, **named}, body=content)


@cache
def _shared_parser() -> PageParser:
    return parser()


def parsed(body: str | bytes, mime: str = "text/html; charset=utf-8", *, url: str = URL, **headers: str) -> Page:
    return _shared_parser().parse(answer(body, mime, url=url, **headers))


def targets(page: Page) -> list[str]:
    return [link.target for link in page.links]


def assert_bounded(page: Page, links_per_page: int = 1_000) -> None:
    """Check that every field is within its limit and can be encoded as UTF-8."""
    assert len(page.title) <= TITLE
    assert len(page.description) <= DESCRIPTION
    assert len(page.keywords) <= KEYWORDS
    assert len(page.language) <= LANGUAGE
    assert len(page.text) <= TEXT
    assert len(page.categories) <= CATEGORIES
    assert len(page.images) <= IMAGES
    assert len(page.videos) <= VIDEOS
    assert 0 <= page.quality.score <= 1
    edges = [edge for span in page.main for edge in span]
    assert edges == sorted(edges)
    assert not edges or 0 <= edges[0] < edges[-1] <= len(page.text)
    assert len(page.headings) <= HEADINGS
    assert all(0 < len(heading) <= HEADING for heading in page.headings)
    assert len(page.links) <= links_per_page
    assert all(link.target.startswith(("http://", "https://")) and len(link.anchor) <= ANCHOR for link in page.links)
    assert len(set(targets(page))) == len(page.links)
    words = [page.title, page.description, page.keywords, page.language, page.canonical, page.text, *page.headings]
    words += [*page.categories, *(part for media in (*page.images, *page.videos) for part in media)]
    everything = "".join(words + [part for link in page.links for part in (link.target, link.anchor)])
    assert "\0" not in everything
    everything.encode("utf-8")  # fails on a lone surrogate


@cache
def real_pages() -> dict[str, bytes]:
    """498 pages of the web, by file name."""
    with lzma.open(shared("html/real_pages.tar.xz")) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        pages = {entry.name: file.read() for entry in archive if (file := archive.extractfile(entry)) is not None}
    return dict(sorted(pages.items()))
