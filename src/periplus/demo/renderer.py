"""Renders the documentation of the standard library into a folder, in child processes."""

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
from periplus.demo.page import link_list, page
from periplus.errors import PeriplusError

_TIMEOUT = 60.0  # seconds; then a child process is killed, and its finished pages are used
_SHARES = min(os.cpu_count() or 1, 4)


def write_python_pages(folder: Path, progress: Callable[[int, int], None] = lambda _done, _total: None) -> None:
    """Creates *folder* with the pages of all modules and topics and their index pages; on an error, creates nothing."""
    building = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(building, ignore_errors=True)
    try:
        _write_all(building, progress)
        building.replace(folder)
    finally:
        shutil.rmtree(building, ignore_errors=True)  # exists only after an error


def _write_all(folder: Path, progress: Callable[[int, int], None]) -> None:
    for name in ("library", "language", "sections"):
        (folder / name).mkdir(parents=True)
    _run_children(folder, progress)
    library, language = _tables(folder)
    if not library:
        raise PeriplusError(
            "the Python documentation could not be rendered",
            f"{sys.executable} rendered no module",
            "Run `periplus doctor` to find the cause.",
        )
    _write_contents(folder, library, language)


def _run_children(folder: Path, progress: Callable[[int, int], None]) -> None:
    written, totals = 0, [0] * _SHARES
    lock = threading.Lock()

    def follow(share: int, lines: Iterator[str]) -> None:
        nonlocal written
        with suppress(ValueError):  # a stopped command closes the pipe
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
    """Starts a child process and a thread in which *follow* reads its output; kills the process on exit.

    The process has an almost empty environment, because `pydoc` shows environment variables.
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
        watchdog = threading.Timer(_TIMEOUT, child.kill)
        thread = threading.Thread(target=follow, args=(share, iter(child.stdout)))
        try:
            watchdog.start()
            thread.start()
            yield thread
        finally:
            watchdog.cancel()
            child.kill()  # still running only after an error


def _tables(folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The names and descriptions of all rendered modules and topics."""
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
        entries = [(f"../library/{name}.html", name, library[name]) for name in names]
        content = f"<h1>{section.title}</h1>{link_list(entries)}"
        title = f"{section.title}: modules of the Python standard library"
        (folder / "sections" / f"{section.slug}.html").write_bytes(page(title, content, parents=(top,)))
    topics = [(f"{name}.html", title, "") for name, title in sorted(language.items(), key=lambda item: item[1])]
    content = f"<h1>The Python language</h1>{link_list(topics)}"
    (folder / "language" / "index.html").write_bytes(page("The Python language, by topic", content, parents=(top,)))
    entries = [("language/", "The language", "Statements, expressions and types")] if language else []
    entries += [(f"sections/{section.slug}.html", section.title, ", ".join(section.names)) for section in SECTIONS]
    title = f"Python {sys.version_info.major}.{sys.version_info.minor} documentation"
    (folder / "index.html").write_bytes(page(title, f"<h1>{title}</h1>{link_list(entries)}"))
