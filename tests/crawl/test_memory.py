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
