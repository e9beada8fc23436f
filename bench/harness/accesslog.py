"""Counts what a crawler fetched, from the access log of the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Fetched:
    """The requests of one run; a crawler's own counts are not used."""

    pages: int  # distinct HTML URLs with status 200
    page_bytes: int
    repeats: int  # pages fetched again
    other: int  # 200, but not HTML
    redirects: int
    failed: int  # 4xx and 5xx on our hosts: dead links
    robots: int  # requests for robots.txt on our hosts
    foreign: int  # requests for hosts that are not part of the web
    hosts: dict[str, int]  # pages by host


def read(log: Path, hosts: Collection[str]) -> Fetched:
    """Reads the log once it is complete."""
    tally: Counter[str] = Counter()
    pages: dict[tuple[str, str], int] = {}
    with log.open(errors="replace") as lines:
        for line in lines:
            _, host, method, status, size, kind, address = line.rstrip("\n").split("\t", 6)
            if host not in hosts:
                tally["foreign"] += 1
            elif address == "/robots.txt":
                tally["robots"] += 1
            elif status != "200" or method != "GET":
                tally["redirects" if status.startswith("3") else "failed"] += 1
            elif not kind.startswith("text/html"):
                tally["other"] += 1
            elif (host, address) in pages:
                tally["repeats"] += 1
            else:
                pages[host, address] = int(size)
    by_host = dict(sorted(Counter(host for host, _ in pages).items()))
    counts = {name: tally[name] for name in ("repeats", "other", "redirects", "failed", "robots", "foreign")}
    return Fetched(pages=len(pages), page_bytes=sum(pages.values()), hosts=by_host, **counts)
