"""Defines the options of `periplus crawl` and turns them into a crawl request.

Seeds come from the command line, from a file with one URL per line, or from a sitemap (URL or file).
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
    """The seed URLs and sitemap URLs of a crawl."""

    seeds: list[str] = field(default_factory=list)
    sitemaps: list[str] = field(default_factory=list)

    def add(self, urls: Iterable[str]) -> None:
        """Adds URLs from the command line; a URL named like a sitemap (`/sitemap.xml`) becomes a sitemap."""
        for url in urls:
            if "://" not in url and Path(url).is_file():
                raise UsageError(f"{url} is a file", hint=f"To read seeds from it: --seeds {url}")
            (self.sitemaps if _SITEMAP_NAME.fullmatch(url.strip()) else self.seeds).append(url)

    def add_sitemap(self, where: str) -> None:
        """Adds the URL of a sitemap, or reads a sitemap file: its pages become seeds."""
        if "://" in where:
            self.sitemaps.append(parse(where).text)
            return
        from periplus.parse.formats.sitemap import read_sitemap  # noqa: PLC0415  # rarely needed and slow to import

        path = Path(where)
        try:
            body = path.read_bytes()
        except OSError as error:
            hint = "Give a file, or a URL that starts with https:// or http://."
            raise UsageError(f"the sitemap {where} cannot be read", error.strerror or str(error), hint) from error
        listed = read_sitemap(body, path.resolve().as_uri(), Canonicalizer())
        if not listed.urls and not listed.sitemaps:
            raise UsageError(f"the sitemap {where} lists nothing", " ".join(listed.problems))
        self.seeds += [entry.loc for entry in listed.urls]
        self.sitemaps += [entry.loc for entry in listed.sitemaps]


def read_seeds(path: Path) -> list[str]:
    """Reads the URLs of a file with one URL per line, or `host<TAB>url<TAB>url...`; `-` is stdin.

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
        raise UsageError(f"{name} contains no seed URL", hint="Write one URL per line.")
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
    Path | None,
    typer.Option(metavar="FILE", help="Seed file: one URL per line, or host<TAB>url<TAB>url...; `-` is stdin."),
]
Sitemaps = Annotated[
    list[str] | None, typer.Option(metavar="URL|FILE", help="Use the pages of a sitemap as seeds; repeatable.")
]
Entries = Annotated[
    list[str] | None,
    typer.Option(metavar="URL", help="Re-fetch this URL for new links when the queue is empty; repeatable."),
]
Bytes = Annotated[int | None, typer.Option("--bytes", min=1, metavar="N", help="Stop after fetching N bytes of pages.")]
UntilPages = Annotated[int | None, typer.Option(min=1, metavar="N", help="Stop when the whole collection has N pages.")]
UntilBytes = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Stop when the pages of the whole collection have N bytes.")
]
Rounds = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Crawl in N rounds; links found in a round wait for the next.")
]
Depth = Annotated[int | None, typer.Option(min=0, metavar="N", help="Maximum link distance from a seed.")]
Concurrency = Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum concurrent requests.")]
Delay = Annotated[float | None, typer.Option(min=0, metavar="SECONDS", help="Seconds between two requests to a host.")]
Continuous = Annotated[bool, typer.Option("--continuous", help="Never stop: recrawl pages when they are due.")]
OfClass = Annotated[
    RecrawlClass | None, typer.Option("--class", help="Of the due pages, recrawl only those of this class.")
]
NewOnly = Annotated[bool, typer.Option("--new-only", help="Do not recrawl known pages, except seeds given here.")]
NoTraps = Annotated[
    bool,
    typer.Option("--no-traps", help="Do not suspect URL patterns; fetch URLs that were skipped as traps."),
]
Workers = Annotated[
    int, typer.Option(min=1, max=64, metavar="N", help="Worker processes; each owns some of the domains.")
]
ScopeHosts = Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Hosts to crawl; repeatable.")]
ScopePaths = Annotated[list[str] | None, typer.Option(metavar="REGEX", help="Paths to crawl; repeatable.")]
ConnectTo = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST1:PORT1:HOST2:PORT2",
        help="Connect to HOST2:PORT2 instead of HOST1:PORT1 (like curl --connect-to); repeatable.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be crawled; send and write nothing.")]
AllowPrivate = Annotated[
    bool | None,
    typer.Option("--allow-private", help="Also crawl private addresses (127.0.0.1, 10.x, ...)."),
]


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The options of one `periplus crawl` command."""

    urls: Sequence[str]
    seeds: Path | None
    sitemaps: Sequence[str]
    entries: Sequence[str]
    budget: Budget
    workers: int
    rounds: int | None
    flags: Mapping[str, Any]  # settings by name; None or empty when the option was not given
    recrawl: RecrawlPolicy = field(default_factory=RecrawlPolicy)

    def request(self, home: Path) -> Request:
        """Builds the crawl request: reads seed files, separates sitemaps from seeds, merges settings."""
        given = {key: value for key, value in self.flags.items() if value not in (None, [])}
        settings = load(home, given).settings
        start = self._seed_list()
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
            self.recrawl,
            own_process=True,
        )

    def _seed_list(self) -> SeedList:
        start = SeedList()
        start.add(self.urls)
        if self.seeds is not None:
            start.add(read_seeds(self.seeds))
        for where in self.sitemaps:
            start.add_sitemap(where)
        return start

    def _arguments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options as the catalog stores them with the run."""
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
            "continuous": self.recrawl.continuous or None,
            "class": self.recrawl.only,
            "new_only": self.recrawl.new_only or None,
        }
