"""The child process that imports modules of the standard library and renders their pages.

Importing a module runs its code. A module that hangs or breaks the interpreter costs some pages, but not the demo.
`python -I -m periplus.demo.render_child FOLDER SHARE SHARES` renders every SHARES-th page. It prints the number of its
pages on stdout, then the name of each finished page.
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
    """Writes one share of the pages, and a JSON file with their descriptions."""
    warnings.simplefilter("ignore")  # importing a deprecated module warns
    modules = {name: section for section in SECTIONS for name in module_names(section)}
    topics = topic_texts()
    my_modules, my_topics = sorted(modules)[share::shares], sorted(topics)[share::shares]
    _print_line(str(len(my_modules) + len(my_topics)))
    writer = ModulePage(modules.keys())
    library = {name: _write_module(writer, folder / "library", name, modules[name]) for name in my_modules}
    language = {name: _write_topic(folder / "language", name, topics, modules) for name in my_topics}
    table = {"library": {name: words for name, words in library.items() if words is not None}, "language": language}
    (folder / f"about-{share}.json").write_text(json.dumps(table), encoding="utf-8")


def _write_module(writer: ModulePage, folder: Path, name: str, section: Section) -> str | None:
    """Writes the page of a module and returns its short description; None when the module cannot be imported."""
    try:
        module = import_module(name)
        words, description = summary(module, name)
        content = writer.content(module, name)
    except (Exception, SystemExit) as error:  # a failing module costs one page only
        sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
        return None
    parents = (_TOP, (f"../sections/{section.slug}.html", section.title))
    title = f"{name}: {words or section.title}"
    (folder / f"{name}.html").write_bytes(page(title, content, description=description, parents=parents))
    _print_line(name)
    return words


def _write_topic(folder: Path, name: str, topics: Mapping[str, str], modules: Mapping[str, Section]) -> str:
    title = topic_title(name, topics[name])
    content = topic_content(name, topics[name], topics, modules)
    parents = (_TOP, ("./", "The language"))
    (folder / f"{name}.html").write_bytes(page(f"{title} in Python", content, parents=parents))
    _print_line(name)
    return title


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
