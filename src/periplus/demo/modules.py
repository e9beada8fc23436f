"""Lists the modules of the standard library that the demo documents.

Only listed modules are imported, because importing some others opens a browser, prints text or needs a display.
Modules that this Python version lacks are skipped, so one list works for every version.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec

_FOR_WINDOWS = ("windows", "win32", "proactor")  # such modules can be imported only on Windows


@dataclass(frozen=True, slots=True)
class Section:
    """Modules of one topic; `name.*` means a package and all its submodules."""

    slug: str
    title: str
    names: tuple[str, ...]


def _section(slug: str, title: str, names: str) -> Section:
    return Section(slug, title, tuple(names.split()))


SECTIONS = (
    _section("builtins", "Built-in functions", "builtins"),
    _section("text", "Text", "string re difflib textwrap unicodedata stringprep readline rlcompleter"),
    _section("binary", "Binary data", "struct codecs encodings.idna encodings.aliases"),
    _section(
        "types",
        "Data types",
        """datetime zoneinfo calendar collections.* heapq bisect array weakref types copy pprint reprlib enum graphlib
        typing dataclasses abc""",
    ),
    _section("numbers", "Numbers and mathematics", "numbers math cmath decimal fractions random statistics"),
    _section("functional", "Functional programming", "itertools functools operator"),
    _section(
        "files", "Files and folders", "pathlib os.path fileinput stat filecmp tempfile glob fnmatch linecache shutil io"
    ),
    _section("persistence", "Data persistence", "pickle copyreg pickletools shelve marshal dbm dbm.dumb sqlite3.*"),
    _section("compression", "Compression and archives", "zlib gzip bz2 lzma zipfile tarfile zipapp compression.*"),
    _section("formats", "File formats", "csv configparser tomllib netrc plistlib json.* wave"),
    _section("cryptography", "Hashes and secrets", "hashlib hmac secrets"),
    _section(
        "system",
        "The operating system",
        """os time argparse getopt optparse logging.* getpass curses.* platform errno ctypes ctypes.util posix pwd grp
        termios tty pty fcntl resource syslog""",
    ),
    _section(
        "concurrency",
        "Concurrent execution",
        """threading multiprocessing.* concurrent.* subprocess sched queue contextvars _thread asyncio.*""",
    ),
    _section("networking", "Sockets", "socket ssl select selectors signal mmap socketserver"),
    _section("mail", "Email and data encodings", "email.* mailbox mimetypes base64 binascii quopri"),
    _section("markup", "HTML and XML", "html.* xml.*"),
    _section(
        "internet",
        "Internet protocols",
        """webbrowser wsgiref.* urllib.* http.* ftplib poplib imaplib smtplib uuid xmlrpc.* ipaddress""",
    ),
    _section("programs", "Program frameworks", "cmd shlex gettext locale"),
    _section("development", "Writing and testing code", "pydoc doctest unittest.* timeit trace venv"),
    _section("debugging", "Debugging and profiling", "bdb faulthandler pdb cProfile profile pstats tracemalloc"),
    _section(
        "runtime",
        "Python runtime",
        """sys sysconfig warnings contextlib atexit traceback gc inspect site code codeop __future__""",
    ),
    _section("importing", "Importing", "zipimport pkgutil modulefinder runpy importlib.*"),
    _section(
        "language",
        "Python language services",
        """ast symtable token keyword tokenize tabnanny pyclbr py_compile compileall dis opcode""",
    ),
)


def module_names(section: Section) -> list[str]:
    """The modules of a section that this Python has, submodules included; only packages are imported."""
    return sorted({name for pattern in section.names for name in _matching(pattern)})


def _matching(pattern: str) -> Iterator[str]:
    name = pattern.removesuffix(".*")
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return
    if spec is None:
        return
    yield name
    if name != pattern:
        yield from _submodules(name, list(spec.submodule_search_locations or ()))


def _submodules(package: str, places: list[str]) -> Iterator[str]:
    for module in pkgutil.iter_modules(places):
        if not module.name.startswith(("_", "test")) and not any(word in module.name for word in _FOR_WINDOWS):
            yield from _matching(f"{package}.{module.name}{'.*' if module.ispkg else ''}")
