"""One machine needs nothing of a fleet: everything works where the libraries of the extras are not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crawl.crawling import environment, reach
from testweb import TestWeb, mesh

_BARE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"psycopg", "psycopg_pool", "obstore"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from periplus.__main__ import main
sys.exit(main())
"""


@pytest.mark.slow
def test_a_collection_is_crawled_indexed_and_searched_without_the_libraries_of_a_fleet(tmp_path: Path) -> None:
    def bare(*arguments: str) -> str:
        command = [sys.executable, "-c", _BARE, *arguments, "--home", str(tmp_path / "home")]
        done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with TestWeb([mesh("a.test", 5)]) as web:
        bare("crawl", "http://a.test/", *map(str, reach(web)))
    bare("rank")
    bare("index")
    assert "a.test" in bare("search", "a")
    assert "5 fetched" in bare("status")
    bare("verify")
