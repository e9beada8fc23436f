"""The child process that imports the standard library to write about it.

It is a process of its own because importing runs code: a module that hangs or changes the interpreter costs some pages,
not the demo. `python -I -m periplus.demo.render_child FOLDER SHARE SHARES` writes every SHARES-th page; on stdout it
says how many that will be, and then names each one that is written.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from periplus.demo.modules import SECTIONS, Section, module_names
from periplus.demo.page import page
from periplus.demo.pydocs import ModulePage, summary
from periplus.demo.topics import topic_content, topic_texts, topic_title

_TOP = ("../", "Python")


def main(folder: Path, share: int, shares: int) -> None:
    """Write one share of the pages, and beside them a table of what they are about."""
    warnings.simplefilter("ignore")  # modules that will leave the library some day say so
    modules = {name: section for section in SECTIONS for name in module_names(section)}
    topics = topic_texts()
    my_modules, my_topics = sorted(modules)[share::shares], sorted(topics)[share::shares]
    _say(str(len(my_modules) + len(my_topics)))
    writer = ModulePage(modules.keys())
    library = {name: _write_module(writer, folder / "library", name, modules[name]) for name in my_modules}
    language = {name: _write_topic(folder / "language", name, topics, modules) for name in my_topics}
    table = {"library": {name: words for name, words in library.items() if words is not None}, "language": language}
    (folder / f"about-{share}.json").write_text(json.dumps(table), encoding="utf-8")


def _write_module(writer: ModulePage, folder: Path, name: str, section: Section) -> str | None:
    """A few words about the module, or nothing when it cannot be described here."""
    try:
        module = import_module(name)
        words, description = summary(module, name)
        content = writer.content(module, name)
    except (Exception, SystemExit) as error:  # whatever a module does, it costs one page
        sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
        return None
    trail = (_TOP, (f"../sections/{section.slug}.html", section.title))
    title = f"{name}: {words or section.title}"
    (folder / f"{name}.html").write_bytes(page(title, content, description=description, trail=trail))
    _say(name)
    return words


def _write_topic(folder: Path, name: str, topics: Mapping[str, str], modules: Mapping[str, Section]) -> str:
    title = topic_title(name, topics[name])
    content = topic_content(name, topics[name], topics, modules)
    trail = (_TOP, ("./", "The language"))
    (folder / f"{name}.html").write_bytes(page(f"{title} in Python", content, trail=trail))
    _say(name)
    return title


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
