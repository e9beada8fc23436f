"""How does a person ask for a crawl?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli.seeds import Start, read_seeds
from periplus.config import load
from periplus.crawl.agenda import Agenda
from periplus.crawl.budget import Budget
from periplus.crawl.run import Request
from periplus.frontier.schedule import Class

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
    Class | None, typer.Option("--class", help="Of the pages that are due again, ask only for those of a class.")
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
class Order:
    """A crawl as it was typed."""

    urls: Sequence[str]
    seeds: Path | None
    sitemaps: Sequence[str]
    entries: Sequence[str]
    budget: Budget
    workers: int
    rounds: int | None
    flags: Mapping[str, Any]  # settings by their names; what was not typed is None or empty
    agenda: Agenda = field(default_factory=Agenda)

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
            apart=True,
        )

    def _start(self) -> Start:
        start = Start()
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
