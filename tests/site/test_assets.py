"""A browser fetches a static file once, and again only when it has changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from periplus.site import assets as module
from periplus.site.assets import Assets
from web.engines import FakeEngine
from web.serving import Site, searching

FOLDER = Path(module.__file__).parent / "static"


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine()) as served:
        yield served


def test_a_page_links_to_names_that_carry_the_hash_of_the_content(site: Site) -> None:
    style = site.get("/").page.select("link[rel=stylesheet]")[0].attrs["href"]
    assert isinstance(style, str)
    assert re.fullmatch(r"/static/style\.[0-9a-f]{16}\.css", style)
    answer = site.get(style)
    assert answer.body == (FOLDER / "style.css").read_bytes()
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_the_plain_name_is_cached_for_an_hour(site: Site) -> None:
    assert site.get("/static/logo.svg").headers["cache-control"] == "public, max-age=3600"


def test_a_file_that_the_browser_has_is_not_sent_again(site: Site) -> None:
    first = site.get("/static/style.css")
    second = site.get("/static/style.css", {"If-None-Match": first.headers["etag"]})
    assert (second.status, second.body) == (304, b"")
    assert site.get("/static/style.css", {"If-None-Match": '"other"'}).status == 200


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("style.css", "text/css; charset=utf-8"),
        ("keys.js", "text/javascript; charset=utf-8"),
        ("logo.svg", "image/svg+xml"),
    ],
)
def test_every_file_says_what_it_is(site: Site, name: str, media_type: str) -> None:
    assert site.get(f"/static/{name}").headers["content-type"] == media_type


@pytest.mark.parametrize(
    "name",
    ["", "none.css", "../headers.py", "..%2fheaders.py", "%2e%2e/headers.py", "/etc/passwd", "style.css%00", "style"],
)
def test_nothing_outside_the_folder_is_served(site: Site, name: str) -> None:
    assert site.get(f"/static/{name}").status == 404


def test_a_changed_file_gets_another_name(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("p { color: red }")
    before = Assets(tmp_path).address("a.css")
    (tmp_path / "a.css").write_text("p { color: blue }")
    assert Assets(tmp_path).address("a.css") != before


def test_other_files_of_the_folder_are_not_served(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("private")
    with pytest.raises(KeyError):
        Assets(tmp_path).address("notes.txt")


OF_THE_CONSOLE = {FOLDER / name for name in ("console.css", "console.js", "uplot.css", "uplot.js")}


def test_a_reader_loads_little(site: Site) -> None:
    sizes = {path.suffix: 0 for path in FOLDER.iterdir()}
    for path in set(FOLDER.iterdir()) - OF_THE_CONSOLE:
        sizes[path.suffix] += path.stat().st_size
    assert sizes[".css"] < 42_000
    assert sizes[".js"] < 28_000
    assert set(sizes) == {".css", ".ico", ".js", ".svg"}


def test_no_file_names_another_site() -> None:
    for path in set(FOLDER.iterdir()) - {FOLDER / "favicon.ico"}:
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        text = re.sub(r"\A/\*! https://github\.com/leeoniya/uPlot .*? \*/", "", text)  # its licence is MIT
        assert "//" not in re.sub(r"(^|\s)// .*$", "", text, flags=re.MULTILINE), path.name
