"""The webs that are measured: how each is served, and with which options it is crawled."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from growing.web import GrowingWeb
from harness import nginx
from harness.background import started
from harness.machine import split_cores
from harness.web import prepare


@dataclass(frozen=True)
class ServedWeb:
    """A web that can be served and crawled."""

    name: str
    pages: int  # that a crawl must fetch
    served: Callable[[Path], AbstractContextManager[list[str]]]  # gets a folder, yields options of `periplus crawl`
    queries: str = ""  # pages of the generated web from which the queries are made; empty: no queries


def generated(pages: int) -> ServedWeb:
    """A generated web of which a crawl fetches so many pages."""
    web = GrowingWeb(pages)

    @contextmanager
    def served(folder: Path) -> Iterator[list[str]]:
        with started([sys.executable, str(Path(__file__).with_name("server.py")), str(pages)]) as program:
            yield [*_options(folder, web.seeds(), int(program.first_line)), "--pages", str(pages)]

    return ServedWeb(str(pages), pages, served, str(pages))


def documentation(cache: Path) -> ServedWeb:
    """The documentation packages of `bench/crawl.py`: real pages, so that a page has its real size."""
    web = prepare(cache)

    @contextmanager
    def served(folder: Path) -> Iterator[list[str]]:
        with nginx.serve(nginx.find(cache), web, folder / "server", split_cores().server) as server:
            yield _options(folder, web.seeds(), server.port)

    return ServedWeb("documentation", 1, served)


def _options(folder: Path, urls: Sequence[str], port: int) -> list[str]:
    seeds = folder / "seeds.txt"
    seeds.write_text("".join(f"{url}\n" for url in urls))
    options = ["--seeds", str(seeds), "--scope-host", r".*\.test", "--delay", "0"]
    return [*options, "--connect-to", f"::127.0.0.1:{port}", "--allow-private"]
