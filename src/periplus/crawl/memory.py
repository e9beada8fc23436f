"""Keeps the resident memory of a crawl small by returning freed memory to the system.

By default the C library keeps about 100 MB of freed memory. Here it returns large blocks at once and everything else
every few seconds. Loaded libraries add about 30 MB of code that was read once and hardly ever runs; it is dropped, too.
"""

from __future__ import annotations

import ctypes
import re
import resource
import time
from contextlib import suppress
from pathlib import Path

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENAS = -1, -3, -8  # parameters of mallopt
_SETTINGS = {_ARENAS: 1, _MMAP_THRESHOLD: 1 << 19, _TRIM_THRESHOLD: 4 << 20}
_TRIM_EVERY = 2.0  # seconds; one trim takes a few milliseconds
_LIBRARY = ctypes.CDLL(None)
_MAPPED_CODE = re.compile(  # pages of libraries that were never written to
    r"^([0-9a-f]+)-([0-9a-f]+) r-.p .*\.so(?:\.[\d.]+)?\n(?:\w+:.*\n)*?Anonymous: +0 kB$", re.MULTILINE
)
_MADV_DONTNEED = 4


def return_freed_memory_early() -> None:
    """Make the C library return large freed blocks at once; does nothing where it has no such settings."""
    if hasattr(_LIBRARY, "mallopt"):
        for name, value in _SETTINGS.items():
            _LIBRARY.mallopt(name, value)


def drop_loaded_code_pages() -> None:
    """Drop the code pages of loaded libraries; the kernel reads a page again when its code runs."""
    with suppress(OSError):  # /proc exists on Linux only
        for start, end in _MAPPED_CODE.findall(Path("/proc/self/smaps").read_text()):
            first = int(start, 16)
            _LIBRARY.madvise(ctypes.c_void_p(first), ctypes.c_size_t(int(end, 16) - first), _MADV_DONTNEED)
    _trim()


def resident_bytes(process: int | None) -> int:
    """The resident memory of a process in bytes; 0 where it is unknown."""
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0


class MemoryTrimmer:
    """Returns free memory between used blocks to the system, every few seconds."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def trim_if_due(self) -> None:
        """Trim if the last trim was 2 s ago or more; call it often."""
        now = time.monotonic()
        if now - self._last >= _TRIM_EVERY:
            self._last = now
            _trim()


def _trim() -> None:
    if hasattr(_LIBRARY, "malloc_trim"):
        _LIBRARY.malloc_trim(0)
