"""A well-tuned Scrapy project that archives and describes the same web.

Runs inside the peer's own environment: `python scrapy_spider.py JOB.json`.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import scrapy  # type: ignore[import-not-found]
from lxml import etree  # type: ignore[import-not-found,import-untyped,unused-ignore]
from scrapy.crawler import CrawlerProcess  # type: ignore[import-not-found]
from scrapy.http import HtmlResponse  # type: ignore[import-not-found]
from scrapy.linkextractors.lxmlhtml import LxmlLinkExtractor  # type: ignore[import-not-found]
from scrapy.resolver import CachingThreadedResolver  # type: ignore[import-not-found]
from twisted.internet.defer import succeed  # type: ignore[import-not-found]

# Compiled once, with full paths and plain strings: a third of the time of the equivalent selectors.
TITLE = etree.XPath("string(/html/head/title)")
DESCRIPTION = etree.XPath("string(/html/head/meta[@name='description']/@content)")
TEXT = etree.XPath("/html/body/descendant::text()[not(parent::script or parent::style)]", smart_strings=False)


class LoopbackResolver(CachingThreadedResolver):  # type: ignore[misc]
    """Resolves every name to 127.0.0.1, without DNS."""

    def getHostByName(self, _name: str, _timeout: Any = ()) -> Any:  # noqa: N802 - Twisted's name
        return succeed("127.0.0.1")


class DocumentationSpider(scrapy.Spider):  # type: ignore[misc]
    """Keeps the raw page and one record of it, and follows every link inside the web."""

    name = "documentation"

    def __init__(self, job: dict[str, Any], **options: Any) -> None:
        super().__init__(**options)
        self.start_urls = job["seeds"]
        self.inside = tuple(job["roots"])  # the off-site middleware would see links only after queueing
        self.seen: set[str] = set()  # spares the duplicate filter a hash for every link of every page
        self.extractor = LxmlLinkExtractor()
        self.archive = Path("archive.gz").open("wb")  # noqa: SIM115 - open for the whole crawl, see closed()
        self.records = Path("pages.jsonl").open("w")  # noqa: SIM115

    def parse(self, response: Any) -> Iterator[Any]:
        if not isinstance(response, HtmlResponse):
            return
        links = self.extractor.extract_links(response)
        self.archive.write(gzip.compress(response.body, 1))
        record = describe(response.selector.root) | {
            "url": response.url,
            "links": [(link.url, link.text) for link in links],
        }
        self.records.write(json.dumps(record) + "\n")
        for link in links:
            if link.url not in self.seen and link.url.startswith(self.inside):
                self.seen.add(link.url)
                yield scrapy.Request(link.url, callback=self.parse)

    def closed(self, _reason: str) -> None:
        self.archive.close()
        self.records.close()


def describe(root: Any) -> dict[str, Any]:
    """Title, description, headings and text of a parsed page."""
    return {
        "title": TITLE(root).strip(),
        "description": DESCRIPTION(root),
        "headings": ["".join(heading.itertext()).strip() for heading in root.iter("h1", "h2", "h3")],
        "text": " ".join(" ".join(TEXT(root)).split()),
    }


def settings(job: dict[str, Any]) -> dict[str, Any]:
    """Scrapy's own advice for broad crawls, with everything switched off that the work does not need."""
    return {
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "TWISTED_DNS_RESOLVER": LoopbackResolver,
        "CONCURRENT_REQUESTS": job["concurrency"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": job["concurrency"],
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "USER_AGENT": "scrapy-peer",
        "JOBDIR": "job",
        "DEPTH_PRIORITY": 1,  # breadth first, so that a budget covers all hosts
        "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REFERER_ENABLED": False,
        "METAREFRESH_ENABLED": False,
        "HTTPPROXY_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "CLOSESPIDER_PAGECOUNT": job["pages"] or 0,
    }


def main() -> None:
    job = json.loads(Path(sys.argv[1]).read_text())
    process = CrawlerProcess(settings(job))
    process.crawl(DocumentationSpider, job=job)
    process.start()


if __name__ == "__main__":
    main()
