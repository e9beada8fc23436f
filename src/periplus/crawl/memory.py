"""How does a crawl keep its memory small?

Pages come in all sizes, by the thousand. Left alone, the C library keeps a hundred megabytes of what was freed, in case
it is wanted again; here it is told to give large pieces back.
"""

from __future__ import annotations

import ctypes

import pyarrow as pa

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENAS = -1, -3, -8  # the names that mallopt knows them by
_SETTINGS = {_ARENAS: 2, _MMAP_THRESHOLD: 1 << 20, _TRIM_THRESHOLD: 4 << 20}


def give_back_early() -> None:
    """For the rest of this process; where the C library knows no such settings, nothing changes."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for name, value in _SETTINGS.items():
            library.mallopt(name, value)
    pa.set_memory_pool(pa.system_memory_pool())
