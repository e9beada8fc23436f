"""Is freed memory returned to the system?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from crawl.crawling import run_crawl
from testweb import Page, Site, TestWeb


def test_arrow_uses_the_allocator_that_returns_memory_early(tmp_path: Path) -> None:
    with TestWeb([Site("a.test", {"/": Page()})]) as web:
        run_crawl(web, tmp_path, "http://a.test/")
    assert pa.default_memory_pool().backend_name == "system"


CODE = """
import re
import pyarrow.parquet, turbohtml
from periplus.crawl import memory

def mapped():
    return int(re.search(r"Pss_File: +(\\d+)", open("/proc/self/smaps_rollup").read())[1])

before = mapped()
memory.drop_loaded_code_pages()
print(before, mapped())
assert turbohtml.parse("<p>word").to_text() == "word"
assert pyarrow.table({"a": [1]}).num_rows == 1
"""


def test_code_pages_are_dropped_and_loaded_again_when_they_run() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    before, after = map(int, done.stdout.split())
    assert after < before / 2


HELD = """
import resource, time
from periplus.crawl import memory

memory.return_freed_memory_early()
trimmer = memory.MemoryTrimmer()
pieces = [bytearray(100_000) for _ in range(1_000)]
last = pieces[-1]  # keeps the end of the heap in use
del pieces

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 20

before = resident()
trimmer.trim_if_due()
early = resident()
time.sleep(memory._TRIM_EVERY)
trimmer.trim_if_due()
print(before, early, resident())
"""


def test_free_memory_between_used_blocks_is_returned_every_few_seconds() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], check=True, capture_output=True, text=True)
    before, early, late = map(int, done.stdout.split())
    assert early > before - 10
    assert late < before - 50
