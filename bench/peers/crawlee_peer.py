"""Runs Crawlee for Python with its fastest configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from harness import venvs
from harness.crawler import Job

REQUIREMENTS = ("crawlee==1.11.*", "lxml", "uvloop")
PROGRAM = Path(__file__).with_name("crawlee_program.py")


class Crawlee:
    """Crawlee's HTTP crawler with uvloop, lxml and its queue in memory; one process, as it is made."""

    name = "crawlee"
    takes_budget = True
    good_exits = frozenset({0})

    def provision(self, cache: Path) -> None:
        self.python = venvs.provision(self.name, REQUIREMENTS, cache)

    def version(self) -> str:
        return venvs.version(self.python, "crawlee")

    def command(self, job: Job) -> list[str]:
        task = {
            "seeds": job.web.seeds(),
            "roots": [f"http://{site.host}/" for site in job.web.sites],
            "proxy": f"http://127.0.0.1:{job.port}",
            "pages": job.pages,
            "concurrency": job.concurrency,
        }
        (job.folder / "job.json").write_text(json.dumps(task))
        return [str(self.python), str(PROGRAM), "job.json"]

    def remarks(self, _folder: Path) -> dict[str, Any]:
        return {}
