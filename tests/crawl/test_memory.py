"""Is memory in the hands of who gives it back?"""

from __future__ import annotations

import subprocess
import sys

FREED = """
import pyarrow as pa
from periplus.crawl.memory import give_back_early

give_back_early()
print(pa.default_memory_pool().backend_name)
"""


def test_the_c_library_which_is_told_to_give_back_early_also_serves_arrow() -> None:
    pool = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True).stdout
    assert pool.strip() == "system"


HELD = """
import resource, time
from periplus.crawl import memory

memory.give_back_early()
housekeeper = memory.Housekeeper()
pieces = [bytearray(100_000) for _ in range(1_000)]
last = pieces[-1]  # keeps the end of the heap in use
del pieces

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() >> 20

before = resident()
housekeeper.tidy()
early = resident()
time.sleep(memory._EVERY)
housekeeper.tidy()
print(before, early, resident())
"""


def test_what_lies_free_between_pieces_in_use_is_given_back_now_and_then() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], check=True, capture_output=True, text=True)
    before, early, late = map(int, done.stdout.split())
    assert early > before - 10
    assert late < before - 50
