"""Does memory that was freed go back?"""

from __future__ import annotations

import subprocess
import sys

FREED = """
import resource
from pathlib import Path
import pyarrow as pa
from periplus.crawl.memory import give_back_early

give_back_early()
assert pa.default_memory_pool().backend_name == "system"

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() >> 20

before = megabytes()
for size in range(1, 30):  # with every piece that is freed, glibc by itself would keep larger ones
    pieces = [bytearray(size << 20) for _ in range(3)]
    small = [bytearray(100_000) for _ in range(100)]
    del pieces
    keep = small[-1]
    del small
print(megabytes() - before)
"""


def test_what_large_pages_took_is_given_back() -> None:
    grown = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True).stdout
    assert int(grown) < 20
