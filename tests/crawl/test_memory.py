"""Is memory in the hands of who gives it back?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa

from crawl.crawling import run_crawl
from testweb import Page, Site, TestWeb


def test_the_c_library_which_is_told_to_give_back_early_also_serves_arrow(tmp_path: Path) -> None:
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
memory.give_back_loading()
print(before, mapped())
assert turbohtml.parse("<p>word").to_text() == "word"
assert pyarrow.table({"a": [1]}).num_rows == 1
"""


def test_code_that_was_only_read_to_load_it_is_given_back_and_still_there_when_it_runs() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], check=True, capture_output=True, text=True)
    before, after = map(int, done.stdout.split())
    assert after < before / 2


HELD = """
import resource, time
from periplus.crawl import memory

memory.give_back_early()
housekeeper = memory.MemoryTrimmer()
pieces = [bytearray(100_000) for _ in range(1_000)]
last = pieces[-1]  # keeps the end of the heap in use
del pieces

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 20

before = resident()
housekeeper.trim_if_due()
early = resident()
time.sleep(memory._TRIM_EVERY)
housekeeper.trim_if_due()
print(before, early, resident())
"""


def test_what_lies_free_between_pieces_in_use_is_given_back_now_and_then() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], check=True, capture_output=True, text=True)
    before, early, late = map(int, done.stdout.split())
    assert early > before - 10
    assert late < before - 50
