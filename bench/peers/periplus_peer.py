"""Runs our own crawler with the command that a user would type."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from harness.crawler import Job
from harness.errors import BenchError


class Periplus:
    """Robots are obeyed and the frontier is durable: both are the defaults, and stay on."""

    name = "periplus"
    takes_budget = True
    good_exits = frozenset({0, 3})  # 3: done, but some pages failed

    def __init__(self, executable: str | None = None) -> None:
        self.wanted = executable

    def provision(self, _cache: Path) -> None:
        beside = Path(sys.executable).with_name("periplus")
        found = shutil.which(self.wanted or str(beside))
        if found is None:
            raise BenchError(f"{self.wanted or beside} not found: install periplus, or give --periplus PATH")
        self.executable = str(Path(found).absolute())

    def version(self) -> str:
        command = [self.executable, "--version"]
        result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        return (result.stdout.split() or ["unknown"])[-1]

    def command(self, job: Job) -> list[str]:
        command = [self.executable, "crawl", *job.web.seeds(), "--delay", "0"]
        command += ["--connect-to", f"::127.0.0.1:{job.port}", "--allow-private"]
        command += ["--home", str(job.folder / "home"), "--concurrency", str(job.concurrency), "--json"]
        if job.pages is not None:
            command += ["--pages", str(job.pages)]
        if job.workers > 1:
            command += ["--workers", str(job.workers)]
        return command

    def remarks(self, folder: Path) -> dict[str, Any]:
        """The summary of the crawler; the page counts of the result come from the server's log."""
        try:
            summary = json.loads((folder / "stdout.txt").read_text())
        except (OSError, ValueError) as problem:
            raise BenchError(f"periplus crawl --json printed no JSON object: {problem}") from problem
        return {"summary": summary}
