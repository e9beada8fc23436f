"""Loads pages with known main text.

Two sets were labelled by people: news and blog articles (scrapinghub/article-extraction-benchmark, MIT) with their
whole text, and pages of many kinds and languages (the evaluation of trafilatura, Apache-2.0) with passages that must
and must not be found. The third set is documentation; its generators name the element that holds the text.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
import tarfile
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import compress
from operator import not_
from pathlib import Path

import turbohtml

from harness.web import Web
from periplus.parse.charset import decode

_ARTICLES = "scrapinghub/article-extraction-benchmark", "4a3bc979f76c0df73cb95fe272e2fc1b96f9f010"
_PASSAGES = "adbar/trafilatura", "e90b0ef51ab026fdb905fb6c5b3c84dd3d784fd5"
_SHARED = Path(__file__).resolve().parents[3] / "shared" / "data" / "html" / "real_pages.tar.xz"
_DOCUMENTATION = {  # by host: what holds the text, and what in it is not text
    "python": ("div.body", "a.headerlink"),
    "postgresql": ("body", ".navheader, .navfooter"),
    "sqlite": ("body", ".nosearch, .menu, .searchmenu, #toc_sub"),
    "git": ("body", "#footer"),
    "django": ("#bd", ".nav, #sidebar, a.headerlink"),
    "sqlalchemy": ("#docs-body", "a.headerlink"),
    "qt": (".mainContent, .context", ".navigationbar, .sidebar, .toc"),
    "glib": ("body", ".navigation, .footer"),
    "gtk": ("body", ".navigation, .footer"),
}
_PAGES_A_SITE = 30
_HALF = 128  # of the values of a byte
_SHORTEST = 200  # characters of a text worth finding


@dataclass(frozen=True)
class Marked:
    """One page: its text, or else passages that are in it and passages that are not."""

    html: str
    text: str = ""
    site: str = ""  # of many pages that are here, too
    file: str = ""  # its name in the set
    within: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def articles(cache: Path) -> list[Marked]:
    folder = _downloaded(cache, *_ARTICLES, ("html/", "ground-truth.json"))
    if folder is None:
        return []
    texts = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    return [
        Marked(decode(gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()), ""), said["articleBody"])
        for name, said in texts.items()
    ]


def passages(cache: Path) -> list[Marked]:
    folder = _downloaded(cache, *_PASSAGES, ("tests/evaldata.json",))
    if folder is None or not _SHARED.exists():
        return []
    with lzma.open(_SHARED) as stream, tarfile.open(fileobj=stream, mode="r|") as archive:
        pages = {Path(entry.name).name: file.read() for entry in archive if (file := archive.extractfile(entry))}
    marks = json.loads((folder / "tests" / "evaldata.json").read_text(encoding="utf-8")).values()
    return [
        Marked(decode(pages[name], ""), file=name, within=tuple(mark["with"]), without=tuple(mark["without"]))
        for mark in marks
        if (name := mark["file"]) in pages
    ]


def halves(pages: list[Marked]) -> tuple[list[Marked], list[Marked]]:
    """The pages to fit rules and weights on, and the pages held out to measure them; file names decide."""
    in_fit = [sha256(page.file.encode()).digest()[0] < _HALF for page in pages]
    fit, held_out = compress(pages, in_fit), compress(pages, map(not_, in_fit))
    return list(fit), list(held_out)


def documentation(web: Web) -> list[Marked]:
    return [page for site in web.sites for page in _of_site(site.host.split(".")[0], site.root)]


def _of_site(name: str, root: Path) -> Iterator[Marked]:
    body, not_text = _DOCUMENTATION[name]
    files = sorted(root.rglob("*.html"))
    for file in files[:: max(len(files) // _PAGES_A_SITE, 1)][:_PAGES_A_SITE]:
        html = decode(file.read_bytes(), "")
        element = turbohtml.parse(html, positions=False).select_one(body)
        if element is not None:
            text = element.remove(not_text).remove("script, style").to_text()
            if len(text) >= _SHORTEST:
                yield Marked(html, text, name)


def _downloaded(cache: Path, repository: str, commit: str, wanted: tuple[str, ...]) -> Path | None:
    """The folder that holds files of a repository; they are downloaded once."""
    folder = cache / "marked" / repository.replace("/", "+")
    if folder.is_dir():
        return folder
    url = f"https://codeload.github.com/{repository}/tar.gz/{commit}"
    print(f"downloading {url}", file=sys.stderr)
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            content = io.BytesIO(answer.read())
    except OSError as error:
        print(f"left out: {repository} cannot be downloaded ({error})", file=sys.stderr)
        return None
    _unpack(content, folder, wanted)
    return folder


def _unpack(content: io.BytesIO, folder: Path, wanted: tuple[str, ...]) -> None:
    # A half-unpacked folder must never look complete to the next run.
    partial = folder.with_name(folder.name + ".partial")
    with tarfile.open(fileobj=content) as archive:
        for entry in archive.getmembers():
            name = entry.name.partition("/")[2]  # the first folder is that of the repository
            if entry.isfile() and name.startswith(wanted) and (file := archive.extractfile(entry)):
                target = partial / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(file.read())
    partial.rename(folder)
