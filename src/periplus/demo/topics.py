"""Renders the language topics of `help()`, such as `help("with")`, as HTML pages."""

from __future__ import annotations

import pydoc
import re
from collections.abc import Collection, Iterator
from html import escape
from importlib import import_module

from periplus.demo.page import link

_UNDERLINES = {"*": "h1", "=": "h2", "-": "h3", "~": "h4"}
_QUOTED = re.compile(r"&quot;([A-Za-z_][\w.]*)(?:\(\))?&quot;")


def topic_texts() -> dict[str, str]:
    """The texts of all topics by name; empty when the system packages them separately from Python."""
    try:
        return dict(import_module("pydoc_data.topics").topics)
    except (ImportError, AttributeError):
        return {}


def topic_title(name: str, text: str) -> str:
    """The heading of a topic."""
    return text.lstrip().partition("\n")[0].strip().replace('"', "") or name


def topic_content(name: str, text: str, topics: Collection[str], modules: Collection[str]) -> str:
    """The topic as HTML, with links to modules and related topics."""
    blocks = re.split(r"\n{2,}", text.strip("\n"))
    body = "\n".join(_block(block, modules) for block in blocks)
    related = [link(f"{other}.html", other) for other in _related(name) if other in topics]
    return f"{body}\n<p>See also: {', '.join(related)}</p>" if related else body


def _block(block: str, modules: Collection[str]) -> str:
    lines = block.split("\n")
    if len(lines) == 2 and len(set(lines[1])) == 1 and lines[1][0] in _UNDERLINES:
        tag = _UNDERLINES[lines[1][0]]
        return f"<{tag}>{escape(lines[0].replace(chr(34), ''))}</{tag}>"
    if all(line.startswith("   ") or not line for line in lines):
        return f"<pre>{escape(block)}</pre>"
    return f"<p>{_QUOTED.sub(lambda found: _code(found[1], modules), escape(block))}</p>"


def _code(name: str, modules: Collection[str]) -> str:
    return f'<code><a href="../library/{name}.html">{name}</a></code>' if name in modules else f"<code>{name}</code>"


def _related(name: str) -> list[str]:
    """The topics that pydoc lists as related."""
    tables = (pydoc.Helper.topics, pydoc.Helper.keywords)
    found: set[str] = set()
    for table in tables:
        for entry in table.values():
            if isinstance(entry, tuple) and entry[0] == name:
                found.update(topic for label in entry[1].split() for topic in _topics(label))
    return sorted(found - {name})


def _topics(label: str) -> Iterator[str]:
    """The topic of a label such as CONTEXTMANAGERS; aliases are followed."""
    for _ in range(3):
        entry = pydoc.Helper.keywords.get(label) or pydoc.Helper.topics.get(label)
        if isinstance(entry, tuple):
            yield entry[0]
            return
        label = entry or ""
