"""Serves a growing web on loopback, in a process of its own: `python server.py PAGES` prints its port."""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from growing.web import GrowingWeb, place
from living.made_server import Pages, serve


def _pages(web: GrowingWeb) -> Pages:
    def page_at(host: bytes, path: bytes) -> bytes:
        return (web.page(*place(host, path)) or "").encode()

    return page_at


if __name__ == "__main__":
    # A crawl of few hosts can keep its connections, one of many cannot; here none can, so that sizes compare.
    uvloop.run(serve(_pages(GrowingWeb(int(sys.argv[1]))), closes=True))
