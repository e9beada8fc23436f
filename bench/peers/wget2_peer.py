"""Runs wget2 with its fastest configuration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import packages
from harness.crawler import Job
from harness.errors import BenchError

PACKAGES = ("wget2", "libwget0", "libgpgme11", "libassuan0")


class Wget2:
    """Wget2 saves files and follows links; it extracts no text and its queue is not durable."""

    name = "wget2"
    takes_budget = False
    good_exits = frozenset({0, 8})  # 8: some answers were errors, as dead links are

    def provision(self, cache: Path) -> None:
        folders = packages.unpack(PACKAGES, cache)
        self.binary = folders["wget2"] / "usr/bin/wget2"
        bases = [folder / "usr/lib" for folder in folders.values()]
        libraries = [*bases, *(path for base in bases for path in base.glob("*-linux-gnu"))]
        self.library_path = ":".join(map(str, libraries))
        self.package_version = packages.versions(["wget2"], cache).get("wget2", "unknown")
        if not self.binary.exists():
            raise BenchError("the package wget2 holds no usr/bin/wget2: its layout has changed")

    def version(self) -> str:
        return self.package_version

    def command(self, job: Job) -> list[str]:
        # wget2 cannot map names, so the server acts as its proxy: no DNS lookup, no traffic beyond loopback.
        proxy = f"http://127.0.0.1:{job.port}"
        command = ["env", f"LD_LIBRARY_PATH={self.library_path}", str(self.binary)]
        command += ["--no-config", "--quiet", "--recursive", "--level=inf", "--robots"]
        command += ["--no-hsts", "--no-http2", "--tries=1", "--timeout=10"]
        command += [f"--http-proxy={proxy}", f"--https-proxy={proxy}"]
        # More threads only compete for the one core.
        command += [f"--max-threads={min(16, job.concurrency)}", "--directory-prefix=files"]
        return [*command, "--ignore-tags=img,script,link,iframe", *job.web.seeds()]

    def remarks(self, _folder: Path) -> dict[str, Any]:
        return {}
