"""A small graph is ranked without the compiler, and every graph where numba is not installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from graph.webs import CrawledPage, web
from periplus.graph import kernel, kernel_choice, plain_kernel
from periplus.graph.kernel_choice import FEW_LINKS, kernel_for

RANK = """
import sys
{before}
from periplus.cli.commands import rank
from periplus.graph import kernel_choice
{after}
rank.command(__import__("pathlib").Path(sys.argv[1]), as_json=True)
print(*(name for name in ("numba", "periplus.crawl.run") if sys.modules.get(name)), file=sys.stderr)
"""


def ranked(home: Path, before: str = "", after: str = "") -> subprocess.CompletedProcess[str]:
    """Rank a small web in a new process, which prints the costly modules that it has loaded."""
    pages = [
        CrawledPage(f"https://h{n % 5}.org/{n}", [f"https://h{m % 5}.org/{m}" for m in range(50)]) for n in range(50)
    ]
    web(home, *pages)
    code = RANK.format(before=before, after=after)
    return subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)


def test_fifty_pages_are_ranked_without_loading_the_compiler_or_the_crawler(tmp_path: Path) -> None:
    assert ranked(tmp_path).stderr.split() == []


@pytest.mark.slow
def test_a_large_graph_is_ranked_by_the_compiled_kernel(tmp_path: Path) -> None:
    assert ranked(tmp_path, after="kernel_choice.FEW_LINKS = -1").stderr.split() == ["numba"]


def test_without_numba_a_large_graph_is_ranked_too(tmp_path: Path) -> None:
    done = ranked(tmp_path, before="sys.modules['numba'] = None", after="kernel_choice.FEW_LINKS = -1")
    assert '"nodes": 50' in done.stdout
    assert done.stderr.split() == []


def test_the_number_of_links_decides() -> None:
    assert kernel_for(FEW_LINKS) is plain_kernel
    assert kernel_for(FEW_LINKS + 1) is kernel
    assert kernel_choice._compiled_kernel() is kernel
