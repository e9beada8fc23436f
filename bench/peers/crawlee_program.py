"""A well-tuned Crawlee project that archives and describes the same web.

Runs inside the peer's own environment: `python crawlee_program.py JOB.json`.
"""

from __future__ import annotations

import gzip
import json
import logging
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import uvloop
from crawlee import ConcurrencySettings  # type: ignore[import-not-found]
from crawlee.crawlers import HttpCrawler  # type: ignore[import-not-found]
from crawlee.http_clients import ImpitHttpClient  # type: ignore[import-not-found]
from crawlee.storage_clients import MemoryStorageClient  # type: ignore[import-not-found]
from lxml import etree  # type: ignore[import-not-found,import-untyped,unused-ignore]

# Compiled once, with full paths and plain strings: a third of the time of the equivalent selectors.
TITLE = etree.XPath("string(/html/head/title)")
DESCRIPTION = etree.XPath("string(/html/head/meta[@name='description']/@content)")
BASE = etree.XPath("string(/html/head/base/@href)")
TEXT = etree.XPath("/html/body/descendant::text()[not(parent::script or parent::style)]", smart_strings=False)
PARSER = etree.HTMLParser()


class Documentation:
    """Keeps the raw page and one record of it, and follows every link inside the web."""

    def __init__(self, roots: list[str]) -> None:
        self.inside = tuple(roots)
        self.seen: set[str] = set()  # spares the queue a request object for every link of every page
        self.archive = Path("archive.gz").open("wb")  # noqa: SIM115 - open for the whole crawl, see close()
        self.records = Path("pages.jsonl").open("w")  # noqa: SIM115

    async def keep(self, context: Any) -> None:
        """Crawlee calls this for every response."""
        if not context.http_response.headers.get("content-type", "").startswith("text/html"):
            return
        body = await context.http_response.read()
        root = etree.fromstring(body, PARSER)
        if root is None:
            return
        url = context.request.loaded_url or context.request.url
        links = links_of(root, url)
        self.archive.write(gzip.compress(body, 1))
        self.records.write(json.dumps(describe(root) | {"url": url, "links": links}) + "\n")
        found = dict.fromkeys(link for link, _ in links)
        fresh = [link for link in found if link not in self.seen and link.startswith(self.inside)]
        self.seen.update(fresh)
        if fresh:
            await context.add_requests(fresh)

    def close(self) -> None:
        self.archive.close()
        self.records.close()


def links_of(root: Any, url: str) -> list[tuple[str, str]]:
    """Every link with its anchor; an address that a page names often is joined once."""
    base = urljoin(url, BASE(root))
    joined: dict[str, str] = {}
    links = []
    for element in root.iter("a", "area"):
        href = element.get("href")
        if href is None:
            continue
        bare = href.strip().partition("#")[0]
        if bare not in joined:
            try:
                joined[bare] = urljoin(base, bare)
            except ValueError:
                continue
        links.append((joined[bare], "".join(element.itertext()).strip()))
    return links


def describe(root: Any) -> dict[str, Any]:
    """Title, description, headings and text of a parsed page."""
    return {
        "title": TITLE(root).strip(),
        "description": DESCRIPTION(root),
        "headings": ["".join(heading.itertext()).strip() for heading in root.iter("h1", "h2", "h3")],
        "text": " ".join(" ".join(TEXT(root)).split()),
    }


async def crawl(job: dict[str, Any]) -> None:
    """Each choice was measured: this client, no parser in a thread, no sessions and no files cost least."""
    width = job["concurrency"]
    crawler = HttpCrawler(
        # Crawlee cannot map names, so the server acts as its proxy: no DNS lookup, no traffic beyond loopback.
        http_client=ImpitHttpClient(proxy=job["proxy"], browser=None, persist_cookies_per_session=False),
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(width, width, desired_concurrency=width),
        max_requests_per_crawl=job["pages"],
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        respect_robots_txt_file=True,
        configure_logging=False,
    )
    documentation = Documentation(job["roots"])
    crawler.router.default_handler(documentation.keep)
    await crawler.run(job["seeds"])
    documentation.close()


def main() -> None:
    logging.disable(logging.WARNING)
    uvloop.run(crawl(json.loads(Path(sys.argv[1]).read_text())))


if __name__ == "__main__":
    main()
