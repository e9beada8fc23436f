"""Which addresses does a person name, on the command line, in a file or as a sitemap?"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from periplus.errors import BadUrl, UsageError
from periplus.url import Canonicalizer, parse

_STDIN = Path("-")
_SITEMAP_NAME = re.compile(
    r"https?://[^?#]+/(?:[^/?#]*\.xml\.gz|sitemap[^/?#]*\.(?:xml|txt)(?:\.gz)?)(?:[?#].*)?", re.IGNORECASE
)


@dataclass(slots=True)
class Start:
    """Where a crawl is to begin."""

    seeds: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)

    def add(self, urls: Iterable[str]) -> None:
        """Addresses that somebody typed; one that is named like a sitemap is taken for one."""
        for url in urls:
            (self.sitemaps if _SITEMAP_NAME.fullmatch(url.strip()) else self.seeds).append(url)

    def add_sitemap(self, where: str) -> None:
        """A sitemap by its address, or a file that is one: then the pages it lists are seeds."""
        if "://" in where:
            self.sitemaps.append(parse(where).text)
            return
        from periplus.parse.sitemap import read_sitemap  # noqa: PLC0415  # few name a file, and it takes long to load

        path = Path(where)
        try:
            body = path.read_bytes()
        except OSError as error:
            hint = "Name a file, or an address that starts with https:// or http://."
            raise UsageError(f"the sitemap {where} cannot be read", error.strerror or str(error), hint) from error
        listed = read_sitemap(body, path.resolve().as_uri(), Canonicalizer())
        if not listed.urls and not listed.sitemaps:
            raise UsageError(f"the sitemap {where} lists nothing", " ".join(listed.problems))
        self.seeds += [entry.loc for entry in listed.urls]
        self.sitemaps += [entry.loc for entry in listed.sitemaps]


def read_seeds(path: Path) -> list[str]:
    """The URLs of a file with one URL a line, or `host<TAB>url<TAB>url...`; `-` is stdin.

    Empty lines and # comments are skipped.
    """
    name = "stdin" if path == _STDIN else str(path)
    try:
        text = sys.stdin.buffer.read() if path == _STDIN else path.read_bytes()
        lines = text.decode("utf-8-sig").splitlines()  # some editors begin a file with a byte order mark
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"the seeds in {name} cannot be read", str(error)) from error
    found = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            found += [_checked(cell, name, number) for cell in _cells(line)]
    if not found:
        raise UsageError(f"the list of seeds in {name} names no URL", hint="Write one URL a line.")
    return found


def _cells(line: str) -> list[str]:
    cells = [cell.strip() for cell in line.split("\t")]
    return [cell for cell in (cells[1:] if len(cells) > 1 else cells) if cell]


def _checked(text: str, name: str, number: int) -> str:
    try:
        return parse(text).text
    except BadUrl as error:
        raise BadUrl(f"line {number} of {name}: {error.what}", error.why, error.hint) from error
