"""How is the documentation of the standard library written to a folder, quickly and at no risk to the demo?"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from periplus.demo.modules import SECTIONS, module_names
from periplus.demo.page import listing, page
from periplus.errors import PeriplusError

_LONGEST = 60.0  # seconds; a child that takes longer hangs in some module, and the pages it has written are enough
_SHARES = min(os.cpu_count() or 1, 4)


def write_python_pages(folder: Path, progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Make *folder*, with a page for each module and chapter and the pages that lead to them; all of it or nothing."""
    building = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(building, ignore_errors=True)
    try:
        _write_all(building, progress)
        building.replace(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)  # it is there only when something failed


def _write_all(folder: Path, progress: Callable[[int, int], None]) -> None:
    for name in ("library", "language", "sections"):
        (folder / name).mkdir(parents=True)
    _run_children(folder, progress)
    library, language = _tables(folder)
    if not library:
        raise PeriplusError(
            "the documentation of Python could not be written",
            f"{sys.executable} described no module",
            "`periplus doctor` looks for the cause.",
        )
    _write_contents(folder, library, language)


def _run_children(folder: Path, progress: Callable[[int, int], None]) -> None:
    written, totals = 0, [0] * _SHARES
    lock = threading.Lock()

    def follow(share: int, lines: Iterator[str]) -> None:
        nonlocal written
        with suppress(ValueError):  # a command that is stopped closes the pipe
            totals[share] = int(next(lines, "0"))
            for _ in lines:
                with lock:
                    written += 1
                    progress(written, sum(totals))

    with ExitStack() as stack:
        threads = [stack.enter_context(_child(folder, share, follow)) for share in range(_SHARES)]
        for thread in threads:
            thread.join()


@contextmanager
def _child(folder: Path, share: int, follow: Callable[[int, Iterator[str]], None]) -> Iterator[threading.Thread]:
    """A rendering process, and the thread in which *follow* reads its lines; they end when it does.

    Its environment is empty, because `pydoc` shows the one it runs in.
    """
    arguments = [
        sys.executable,
        "-I",
        "-m",
        "periplus.demo.render_child",
        str(folder.absolute()),
        str(share),
        str(_SHARES),
    ]
    with subprocess.Popen(
        arguments,
        cwd=folder,
        env={"LANG": "C.UTF-8", "PATH": os.defpath},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        watchdog = threading.Timer(_LONGEST, child.kill)
        thread = threading.Thread(target=follow, args=(share, iter(child.stdout)))
        try:
            watchdog.start()
            thread.start()
            yield thread
        finally:
            watchdog.cancel()
            child.kill()  # it has ended already, unless this is the way out of a failure


def _tables(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Every page that was written, with a few words about it."""
    library = {path.stem: "" for path in (folder / "library").glob("*.html")}
    language = {path.stem: path.stem for path in (folder / "language").glob("*.html")}
    for path in folder.glob("about-*.json"):
        table = json.loads(path.read_text(encoding="utf-8"))
        library |= table["library"]
        language |= table["language"]
        path.unlink()
    return library, language


def _write_contents(folder: Path, library: dict[str, str], language: dict[str, str]) -> None:
    top = ("../", "Python")
    for section in SECTIONS:
        names = [name for name in module_names(section) if name in library]
        content = (
            f"<h1>{section.title}</h1>{listing([(f'../library/{name}.html', name, library[name]) for name in names])}"
        )
        title = f"{section.title}: modules of the Python standard library"
        (folder / "sections" / f"{section.slug}.html").write_bytes(page(title, content, trail=(top,)))
    chapters = [(f"{name}.html", title, "") for name, title in sorted(language.items(), key=lambda item: item[1])]
    content = f"<h1>The Python language</h1>{listing(chapters)}"
    (folder / "language" / "index.html").write_bytes(page("The Python language, by chapter", content, trail=(top,)))
    entries = [("language/", "The language", "Statements, expressions and types")] if language else []
    entries += [(f"sections/{section.slug}.html", section.title, ", ".join(section.names)) for section in SECTIONS]
    title = f"Python {sys.version_info.major}.{sys.version_info.minor} documentation"
    (folder / "index.html").write_bytes(page(title, f"<h1>{title}</h1>{listing(entries)}"))
