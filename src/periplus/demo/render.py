"""The child process that imports the standard library to write its documentation.

It is a process of its own because importing runs code: a module that ends, hangs or changes the interpreter costs one
page, not the demo. `python -I -m periplus.demo.render FOLDER SHARE SHARES` writes every SHARES-th module, and says on
stdout how many there will be and then each page it has written.
"""

from __future__ import annotations

import json
import sys
import warnings
from html import escape
from importlib import import_module
from pathlib import Path

from periplus.demo.modules import SECTIONS, module_names
from periplus.demo.page import page
from periplus.demo.pydocs import ModulePage, summary
from periplus.demo.topics import topic_content, topic_texts, topic_title

_TOP = ("../index.html", "Python")


def main(folder: Path, share: int, shares: int) -> None:
    """Write one share of the pages, and beside them what they are about."""
    modules = {name: section for section in SECTIONS for name in module_names(section)}
    topics = topic_texts()
    mine = sorted(modules)[share::shares]
    my_topics = sorted(topics)[share::shares]
    sys.stdout.write(f"{len(mine) + len(my_topics)}\n")
    summaries = _write_modules(folder / "library", mine, list(modules))
    titles = _write_topics(folder / "language", my_topics, topics, list(modules))
    found = {"library": summaries, "language": titles}
    (folder / f"summaries-{share}.json").write_text(json.dumps(found), encoding="utf-8")


def _write_modules(folder: Path, names: list[str], known: list[str]) -> dict[str, str]:
    sections = {name: section for section in SECTIONS for name in module_names(section)}
    writer = ModulePage(frozenset(known))
    summaries = {}
    for name in names:
        try:
            module = import_module(name)
            words, description = summary(module)
            content = writer.content(module, name)
        except Exception as error:  # noqa: BLE001  # whatever a module does, it costs one page
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
            continue
        section = sections[name]
        trail = (_TOP, (f"../sections/{section.slug}.html", section.title))
        title = f"{name}: {words}" if words else name
        (folder / f"{name}.html").write_bytes(page(title, content, description=description, trail=trail))
        summaries[name] = words
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
    return summaries


def _write_topics(folder: Path, names: list[str], topics: dict[str, str], modules: list[str]) -> dict[str, str]:
    titles = {}
    trail = (_TOP, ("index.html", "The language"))
    for name in names:
        titles[name] = topic_title(name, topics[name])
        content = topic_content(name, topics[name], topics, modules)
        (folder / f"{escape(name)}.html").write_bytes(page(f"{titles[name]} (Python)", content, trail=trail))
        sys.stdout.write(f"{name}\n")
    return titles


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of modules that will leave the library some day
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
