"""Runs Scrapy with its fastest configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import venvs
from harness.crawler import Job

REQUIREMENTS = ("scrapy==2.19.*", "uvloop")
SPIDER = Path(__file__).with_name("scrapy_spider.py")


class Scrapy:
    """Scrapy with uvloop, lxml and a durable queue; one process, as its engine is."""

    name = "scrapy"
    takes_budget = True
    good_exits = frozenset({0})

    def provision(self, cache: Path) -> None:
        self.python = venvs.provision(self.name, REQUIREMENTS, cache)

    def version(self) -> str:
        return venvs.version(self.python, "scrapy")

    def command(self, job: Job) -> list[str]:
        # Scrapy's resolver can map names but not ports, so the URLs contain the port.
        task = {
            "seeds": job.web.seeds(job.port),
            "roots": [f"http://{site.host}:{job.port}/" for site in job.web.sites],
            "pages": job.pages,
            "concurrency": job.concurrency,
        }
        (job.folder / "job.json").write_text(json.dumps(task))
        return [str(self.python), str(SPIDER), "job.json"]

    def remarks(self, _folder: Path) -> dict[str, Any]:
        return {}
