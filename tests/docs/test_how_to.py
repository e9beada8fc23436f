"""The commands of the recipes work as the pages show them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawl.crawling import typed
from docs.recipes import Reader, Step, clean_environment, missing_line, steps_of
from parse.pdfs import pdf
from search.library import Doc, index, shelve
from testweb import Page, Site, TestWeb

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "how-to"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.name != "README.md")
# Pages whose commands must work without permission for private addresses in the environment.
WITHOUT_PERMISSION = {"intranet.md"}

HOME = "Welcome to the manual of the harbour. It explains how ships are moored, how cargo is weighed."
GUIDE = "How to install the crane: unpack the parts, bolt the frame to the quay and test it with a load of grain."
MORE = "How to weigh cargo with the crane: hang the sack on the hook, wait until it is still, and read the scale."
HAFEN = "Der Hafen liegt an der Mündung des Flusses. Die Schiffe werden am Kai vertäut, das Getreide wird gewogen."
BLOG = "News from the quay: the old light was repaired in spring, and more ships than ever came into the harbour."


def sites() -> list[Site]:
    links = ["/guide/", "/guide/cargo", "/blog/", "/de/hafen", "/files/tides.pdf"]
    tide = pdf("Tables of the tides in the harbour, with the height of the water for every hour of the day")
    pages = {
        "/": Page("The manual of the harbour", HOME, links, lang="en"),
        "/guide/": Page("Install the crane", GUIDE, ["/guide/cargo"], lang="en"),
        "/guide/cargo": Page("Weigh cargo", MORE, ["/"], lang="en"),
        "/blog/": Page("News from the quay", BLOG, ["/"], lang="en"),
        "/de/hafen": Page("Der Hafen", HAFEN, ["/"], lang="de"),
        "/files/tides.pdf": Page(body=tide, content_type="application/pdf"),
    }
    return [Site("docs.example.org", pages), Site("wiki.intranet.example", {"/": Page("Wiki", HOME), **pages})]


@pytest.fixture(scope="module")
def web() -> Iterator[TestWeb]:
    with TestWeb(sites(), https=True) as running:
        yield running


def environment(web: TestWeb, page: Path) -> dict[str, str]:
    permission = {} if page.name in WITHOUT_PERMISSION else {"PERIPLUS_FETCH__PRIVATE_ADDRESSES": "127.0.0.1/32"}
    return clean_environment(
        Path(sys.executable).parent,
        PERIPLUS_FETCH__CONNECT_TO=",".join(web.connect_to),
        PERIPLUS_FETCH__CA_FILE=str(web.ca_file),
        PERIPLUS_POLITENESS__DELAY="0",
        **permission,
    )


def provide_files(folder: Path) -> None:
    """What the recipes take for granted: a WARC file of another program, and judged queries."""
    html = f"<html><title>Install the crane</title><body><p>{GUIDE}</p></body></html>".encode()
    collection = shelve(folder / "other", [Doc("https://docs.example.org/guide/", body=html)])
    index(collection)
    assert typed("export", folder / "docs.warc.gz", "--home", folder / "other").code == 0
    judged = ("install crane", "guide/"), ("weigh cargo", "guide/cargo"), ("news", "blog/"), ("manual harbour", "")
    lines = [f"q{n}\t{text}\thttps://docs.example.org/{path}\n" for n, (text, path) in enumerate(judged)]
    (folder / "queries.tsv").write_text("".join(lines))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])
def test_the_commands_of_a_recipe_work(page: Path, web: TestWeb, tmp_path: Path) -> None:
    provide_files(tmp_path)
    reader, steps = Reader(tmp_path, environment(web, page)), list(steps_of(page))
    assert steps
    for step in steps:
        reader.follow(step)


def test_every_recipe_is_listed() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in PAGES if f"({page.name})" not in text] == []


def test_every_recipe_has_commands() -> None:
    assert len(PAGES) >= 12
    assert all(any(step.command for step in steps_of(page)) for page in PAGES)


def test_a_line_that_no_command_printed_is_noticed() -> None:
    real = ["  1. Install the crane", "4 results (0.012 s)", "Saved as 0123456789abcdef."]
    assert missing_line(["  1. Install the crane", "7 results (0.5 s)"], real) is None
    assert missing_line(["Saved as 8f0e1d2c3b4a5968."], real) is None
    assert missing_line(["  1. Install …"], real) is None
    assert missing_line(["7 results (0.5 s)", "  1. Install the crane"], real) == "  1. Install the crane", "order"
    assert missing_line(["Removed."], real) == "Removed."


def test_a_page_may_not_run_other_programs(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="curl may not be run"):
        Reader(tmp_path, {}).follow(Step("curl https://example.org/"))
