"""How does a crawl keep its memory small?

Pages come in all sizes, by the thousand. Left alone, the C library keeps a hundred megabytes of what was freed, in case
it is wanted again; here it is told to give large pieces back at once, and everything now and then. The libraries
themselves are another thirty megabytes of code that was read once, to load them, and is hardly ever run.
"""

from __future__ import annotations

import ctypes
import re
import resource
import time
from contextlib import suppress
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENAS = -1, -3, -8  # the names that mallopt knows them by
_SETTINGS = {_ARENAS: 1, _MMAP_THRESHOLD: 1 << 19, _TRIM_THRESHOLD: 4 << 20}
_EVERY = 2.0  # seconds; looking for what is free takes a few milliseconds
_LIBRARY = ctypes.CDLL(None)
_MAPPED_CODE = re.compile(  # of libraries, and nothing of it was ever written to
    r"^([0-9a-f]+)-([0-9a-f]+) r-.p .*\.so(?:\.[\d.]+)?\n(?:\w+:.*\n)*?Anonymous: +0 kB$", re.MULTILINE
)
_NOT_NEEDED = 4  # MADV_DONTNEED


def return_freed_memory_early() -> None:
    """For the rest of this process; where the C library knows no such settings, nothing changes."""
    if hasattr(_LIBRARY, "mallopt"):
        for name, value in _SETTINGS.items():
            _LIBRARY.mallopt(name, value)


def drop_loaded_code_pages() -> None:
    """What it took to load libraries: most of their code, which is there again at once when it runs after all."""
    with suppress(OSError):  # no such files elsewhere than on Linux
        for start, end in _MAPPED_CODE.findall(Path("/proc/self/smaps").read_text()):
            first = int(start, 16)
            _LIBRARY.madvise(ctypes.c_void_p(first), ctypes.c_size_t(int(end, 16) - first), _NOT_NEEDED)
    _trim()


def resident_bytes(process: int | None) -> int:
    """What a process has in memory; 0 where that cannot be told."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


class MemoryTrimmer:
    """Gives back what lies free between pieces in use."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def tidy(self) -> None:
        """To be called often; does something every few seconds."""
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            _trim()


def _trim() -> None:
    if hasattr(_LIBRARY, "malloc_trim"):
        _LIBRARY.malloc_trim(0)
