"""Checks the machine: Python, libraries, sandbox, memory, open files, clock and port.

The sandbox check starts the sandbox process, which reports whether its system calls are filtered.
"""

from __future__ import annotations

import os
import platform
import resource
import socket
import struct
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import periplus
from periplus.doctor.check import Check, Grade, graded
from periplus.parse.glance import IS_COMPILED
from periplus.parse.sandbox.parent import Sandbox
from periplus.parse.sandbox.protocol import ParseRules
from periplus.text import words

_ADVICE = "Crawl untrusted sites inside a virtual machine."


def sandbox() -> Check:
    """The isolation level of the sandbox on this machine."""
    with closing(Sandbox(ParseRules())) as process:
        try:
            is_filtered = process.has_seccomp
        except (EOFError, OSError, ValueError) as error:
            return Check("sandbox", Grade.BAD, f"the PDF parser process does not start: {error!r}", _ADVICE)
    if is_filtered:
        found = "full: the PDF parser process cannot open files, connections or processes"
        return Check("sandbox", Grade.OK, found)
    found = "partial: the PDF parser process has time and memory limits, but its system calls are not filtered"
    return Check("sandbox", Grade.WARN, found, _ADVICE)


_OLDEST_PYTHON = (3, 11)
_LIBRARIES = (
    "ada_url", "duckdb", "fastwarc", "httptools", "isal", "numpy", "orjson", "pyarrow",
    "pycurl", "pydantic_core", "sqlite3", "ssl", "tantivy", "turbohtml", "uvloop", "xxhash", "numba",
)  # fmt: skip
_OPTIONAL = "numba"  # the last of the libraries
_IMPORTING = (
    "import importlib, sys\nfor name in sys.argv[1:]:\n    print(name, flush=True)\n    importlib.import_module(name)"
)
_IMPORT_SECONDS = 60
_MIB = 1 << 20
_COMPILE = "Install a C compiler and Python's headers (on Debian: gcc, python3-dev), then reinstall Periplus."
_LAST_YEAR = 2100  # a later date means that the clock is not set
_CLOCK_SAMPLE = 0.05  # seconds
_CLOCK_DRIFT = 0.02
_CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")
_MEMORY = Path("/proc/meminfo")


def python() -> Check:
    """The Python version."""
    bits = struct.calcsize("P") * 8
    found = f"{platform.python_implementation()} {platform.python_version()}, {bits} bits"
    if sys.version_info < _OLDEST_PYTHON or bits < 64:
        return Check("python", Grade.BAD, found, "Install a 64-bit Python 3.11 or later.")
    return Check("python", Grade.OK, found)


def libraries() -> Check:
    """Loads the compiled libraries in a child process; one built for another processor would crash this process."""
    arguments = [sys.executable, "-c", _IMPORTING, *_LIBRARIES]
    try:
        child = subprocess.run(arguments, capture_output=True, text=True, timeout=_IMPORT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return Check("libraries", Grade.BAD, f"not loaded after {_IMPORT_SECONDS} s", "Check for a hanging disk.")
    if child.returncode == 0:
        return Check("libraries", Grade.OK, f"all {len(_LIBRARIES)} compiled libraries load")
    last = (child.stdout.split() or ["?"])[-1]
    why = (child.stderr.strip().splitlines() or [f"ended by signal {-child.returncode}"])[-1]
    if last == _OPTIONAL and child.returncode > 0:  # a signal would end the ranking too
        slow = "graphs of over 2 million links are ranked in 4 times the CPU time and 3 times the memory"
        return Check("libraries", Grade.WARN, f"{last} does not load ({why}): {slow}", "Install numba.")
    advice = "Reinstall: `python -m pip install --force-reinstall periplus`."
    return Check("libraries", Grade.BAD, f"{last} does not load ({why})", advice)


def html_scanner() -> Check:
    """Whether the fast HTML scanner was compiled."""
    if IS_COMPILED:
        return Check("HTML scanner", Grade.OK, "compiled")
    return Check("HTML scanner", Grade.WARN, "not compiled: a crawl takes about a third more time", _COMPILE)


def word_table() -> Check:
    """Whether the word table of the forward index was compiled."""
    if words.IS_COMPILED:
        return Check("word table", Grade.OK, "compiled")
    return Check("word table", Grade.WARN, "not compiled: an index takes about twice the time", _COMPILE)


def memory(index_mb: int) -> Check:
    """Free memory of the machine or container; *index_mb* is the memory for building an index."""
    free = _free_memory()
    if free is None:
        return Check("memory", Grade.OK, "unknown on this system")
    need = index_mb + 512
    advice = f"Indexing needs about {need} MB: close other programs, or lower index.memory_mb."
    return graded("memory", free, f"{free // _MIB:,} MB free", bad=256 * _MIB, low=need * _MIB, advice=advice)


def _free_memory() -> int | None:
    try:
        lines = dict(line.split(":", 1) for line in _MEMORY.read_text(encoding="ascii").splitlines())
        free = int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        return None
    try:
        limit = _CGROUP_LIMIT.read_text(encoding="ascii").strip()
        used = int(_CGROUP_LIMIT.with_name("memory.current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return free
    return free if limit == "max" else min(free, max(int(limit) - used, 0))


def open_files(concurrency: int) -> Check:
    """The limit on open files and connections per process; *concurrency* is the number of concurrent requests."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = sys.maxsize if soft == resource.RLIM_INFINITY else soft
    found = "no limit" if soft == sys.maxsize else f"{soft:,} at once"
    higher = f"`ulimit -n {hard}`" if soft < hard != resource.RLIM_INFINITY else "`ulimit -n 4096`"
    advice = f"Raise it with {higher} before the crawl, or lower fetch.concurrency."
    return graded("open files", soft, found, bad=concurrency + 64, low=4 * concurrency + 256, advice=advice)


def clock() -> Check:
    """Whether the clock is plausible; politeness, robots.txt and recrawls depend on it."""
    now, steady = time.time(), time.monotonic()
    time.sleep(_CLOCK_SAMPLE)
    drift = abs((time.time() - now) - (time.monotonic() - steady))
    installed = Path(periplus.__file__).stat().st_mtime
    found = time.strftime("%Y-%m-%d %H:%M:%S %Z", time.localtime(now))
    advice = "Set the clock, and synchronize it with NTP."
    if now < installed - 86_400 or time.gmtime(now).tm_year > _LAST_YEAR:
        return Check("clock", Grade.BAD, f"{found}, which is implausible", advice)
    if drift > _CLOCK_DRIFT:
        return Check("clock", Grade.WARN, f"{found}, but it just jumped by {drift:.2f} s", advice)
    return Check("clock", Grade.OK, found)


def port(number: int, host: str = "127.0.0.1") -> Check:
    """Whether the default port of `periplus serve` is free."""
    try:
        with socket.create_server((host, number)):
            return Check("port", Grade.OK, f"{number} is free")
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        advice = f"Use another port: `periplus serve --port {number + 1}`."
        return Check("port", Grade.WARN, f"{number} cannot be used: {why.lower()}", advice)
