"""A web with every kind of duplicate, link and anchor text, large enough for a top 1,000."""

from __future__ import annotations

from pathlib import Path
from random import Random

from graph.webs import CrawledPage, RedirectedUrl, Web, web

PAGES, HOSTS, SEGMENTS = 1_500, 40, 3
_TEXTS = ["harbour", "Harbour", "ΟΔΟΣ", "οδοσ", "click here", "İstanbul", "https://x.org/", "read more", "", "日本"]


def large_web(home: Path) -> Web:
    """A collection of three segments; the last one has new versions of some pages, and redirects."""
    random = Random(7)
    pages = [_page(number, random) for number in range(PAGES)]
    made = web(home, *pages[: PAGES // 2])
    made.add(*pages[PAGES // 2 :])
    again = [CrawledPage(_url(number), _links(random), at=2000.0) for number in range(0, PAGES, 9)]
    moves = [RedirectedUrl(f"https://old{n}.net/{n}", f"https://old{n + 1}.net/{n + 1}") for n in range(6)]
    made.add(*again, *moves, RedirectedUrl("https://old6.net/6", _url(5), at=3000.0))
    return made


def _page(number: int, random: Random) -> CrawledPage:
    copy = f"copy {number % 50}" if number % 30 == 0 else ""
    canonical = _url(number - HOSTS) if number % 17 == 0 and number >= HOSTS else ""
    return CrawledPage(_url(number), _links(random), body=copy, canonical=canonical)


def _links(random: Random) -> list[tuple[str, str, bool]]:
    targets = [int(random.paretovariate(0.6)) % (2 * PAGES) for _ in range(8)]  # half of them were not fetched
    found = [(_url(target), random.choice(_TEXTS), random.random() < 0.1) for target in targets]
    return [*found, (f"https://old{random.randrange(7)}.net/{random.randrange(7)}", "moved", False)]


def _url(number: int) -> str:
    return f"https://www.h{number % HOSTS}.org/{number:05d}"
