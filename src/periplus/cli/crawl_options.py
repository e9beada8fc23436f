"""How does a person ask for a crawl?

Which addresses does a person name, on the command line, in a file or as a sitemap?
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.config import load
from periplus.crawl.assignment import Budget, RecrawlPolicy
from periplus.crawl.run import Request
from periplus.errors import BadUrl, UsageError
from periplus.frontier.schedule import RecrawlClass
from periplus.url import Canonicalizer, parse

_STDIN = Path("-")
_SITEMAP_NAME = re.compile(
    r"https?://[^?#]+/(?:[^/?#]*\.xml\.gz|sitemap[^/?#]*\.(?:xml|txt)(?:\.gz)?)(?:[?#].*)?", re.IGNORECASE
)


@dataclass(slots=True)
class SeedList:
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


Urls = Annotated[list[str] | None, typer.Argument(metavar="URL", help="Where to start.")]
Seeds = Annotated[
    Path | None, typer.Option(help="File of seeds: one URL a line, or host<TAB>url<TAB>url...; `-` is stdin.")
]
Sitemaps = Annotated[
    list[str] | None, typer.Option(metavar="URL|FILE", help="Start from the pages a sitemap lists; repeatable.")
]
Entries = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Ask this again whenever nothing is left: a random page, say; repeatable."),
]
Bytes = Annotated[int | None, typer.Option("--bytes", min=1, help="Stop after so many bytes of pages.")]
UntilPages = Annotated[int | None, typer.Option(min=1, help="Stop when the whole collection has so many pages.")]
UntilBytes = Annotated[
    int | None, typer.Option(min=1, help="Stop when the pages of the whole collection have so many bytes.")
]
Rounds = Annotated[int | None, typer.Option(min=1, help="Crawl in so many rounds: what one finds waits for the next.")]
Continuous = Annotated[
    bool, typer.Option("--continuous", help="Go on for ever: ask for pages again whenever they are due.")
]
OfClass = Annotated[
    RecrawlClass | None, typer.Option("--class", help="Of the pages that are due again, ask only for those of a class.")
]
NewOnly = Annotated[
    bool, typer.Option("--new-only", help="Ask for no page again, even if it is due; seeds named here are.")
]
NoTraps = Annotated[
    bool, typer.Option("--no-traps", help="Suspect no URL pattern, and fetch what suspected traps refused before.")
]
Workers = Annotated[int, typer.Option(min=1, max=64, help="Worker processes; each owns some of the domains.")]
ScopeHosts = Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Hosts to crawl; repeatable.")]
ScopePaths = Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Paths to crawl; repeatable.")]
ConnectTo = Annotated[list[str] | None, typer.Option(metavar="HOST1:PORT1:HOST2:PORT2", help="As curl's; repeatable.")]
AllowPrivate = Annotated[bool | None, typer.Option("--allow-private", help="Dial private addresses too.")]


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """A crawl as it was typed."""

    urls: Sequence[str]
    seeds: Path | None
    sitemaps: Sequence[str]
    entries: Sequence[str]
    budget: Budget
    workers: int
    rounds: int | None
    flags: Mapping[str, Any]  # settings by their names; what was not typed is None or empty
    agenda: RecrawlPolicy = field(default_factory=RecrawlPolicy)

    def request(self, home: Path) -> Request:
        """The crawl it stands for: addresses sorted by kind, files read, settings of all layers joined."""
        given = {key: value for key, value in self.flags.items() if value not in (None, [])}
        settings = load(home, given).settings
        start = self._start()
        return Request(
            home,
            settings,
            start.seeds,
            self.budget,
            self.workers,
            self._arguments(given),
            start.sitemaps,
            self.entries,
            self.rounds,
            self.agenda,
            own_process=True,
        )

    def _start(self) -> SeedList:
        start = SeedList()
        start.add(self.urls)
        if self.seeds is not None:
            start.add(read_seeds(self.seeds))
        for where in self.sitemaps:
            start.add_sitemap(where)
        return start

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the run remembers of them."""
        return {
            "seeds": list(self.urls),
            "seeds_file": str(self.seeds) if self.seeds else None,
            "sitemaps": list(self.sitemaps),
            "entries": list(self.entries),
            "flags": dict(given),
            "pages": self.budget.pages,
            "seconds": self.budget.seconds,
            "bytes": self.budget.bytes,
            "until_pages": self.budget.until_pages,
            "until_bytes": self.budget.until_bytes,
            "workers": self.workers,
            "continuous": self.agenda.continuous or None,
            "class": self.agenda.only,
            "new_only": self.agenda.new_only or None,
        }
