"""How does `pydoc` describe a module, in HTML that is good to read and to search?

What pydoc makes is kept; its tables become sections with headings, its links lead only to pages that exist, and what
it tells about this machine (paths, the environment) is left out.
"""

from __future__ import annotations

import pydoc
import re
import sys
import sysconfig
from collections.abc import Collection, Mapping
from html import escape
from inspect import cleandoc
from types import ModuleType
from typing import Any

_PLAIN = (bool, int, float, complex, str, bytes, type(None))
_LONGEST_VALUE = 100
_TITLE_LENGTH = 70
_DESCRIPTION_LENGTH = 300
_SENTENCE_END = re.compile(r"(?<=\w\w)\.(?:\s|$)")
_RULE = re.compile(r"\s*[=~*-]{3,}")  # the line under a heading
_ADDRESS = re.compile(r"\s*<?https?://\S+")


class ModulePage(pydoc.HTMLDoc):
    """Writes the page of one module after the other."""

    def __init__(self, known: Collection[str]) -> None:
        """Only modules that are *known* are linked to."""
        self._known = known
        self._name = ""
        self._paths = _paths_of_this_machine()

    def content(self, module: ModuleType, name: str) -> str:
        """Everything between the navigation and the end of the page; modules that cannot be described raise."""
        self._name = name
        content = self.docmodule(module)
        for path in self._paths:
            content = content.replace(path, "…")
        return content

    def heading(self, title: str, extras: str = "") -> str:
        """The name; the path of the source, which pydoc shows beside it, is nobody's business."""
        del title, extras
        parents = self._name.split(".")
        above = [".".join(parents[: depth + 1]) for depth in range(len(parents) - 1)]
        linked = [f'<a href="{name}.html">{name.rpartition(".")[2]}</a>' for name in above if name in self._known]
        return f"<h1>{'.'.join([*linked, self._name if not linked else parents[-1]])}</h1>"

    def bigsection(self, title: str, *args: Any) -> str:
        """A part of the page: classes, functions, data."""
        return f"<section><h2>{title}</h2>{args[1]}</section>"

    def section(self, title: str, cls: str, contents: str, *args: Any, **options: Any) -> str:
        """A class of the module."""
        del cls
        prelude = options.get("prelude") or (args[1] if len(args) > 1 else "")
        return f"<section><h3>{title}</h3><div>{prelude}</div>{contents}</section>"

    def preformat(self, text: str) -> str:
        """Text whose lines are kept by the style sheet, so that words stay words."""
        return escape(text.expandtabs(), quote=False)

    def multicolumn(self, items: list[Any], format: Any) -> str:  # noqa: A002  # pydoc's name for it
        """A list of modules."""
        return f"<ul>{''.join(f'<li>{format(item)}</li>' for item in items)}</ul>"

    def namelink(self, name: str, *dicts: Mapping[str, str]) -> str:
        """A name that stands for a class or function; only those on pages of ours are linked."""
        found = next((table[name] for table in dicts if name in table), "")
        return f'<a href="{found}">{name}</a>' if found and self._is_ours(found) else name

    def classlink(self, object: Any, modname: str) -> str:  # noqa: A002
        """A class, linked when its page is ours."""
        text = super().classlink(object, modname)
        return text if object.__module__ in self._known else re.sub(r"<[^>]*>", "", text)

    def modulelink(self, object: Any) -> str:  # noqa: A002
        """A module that this one uses."""
        name = object.__name__
        return f'<a href="{name}.html">{name}</a>' if name in self._known else name

    def modpkglink(self, modpkginfo: tuple[str, str, bool, bool]) -> str:
        """A module inside this package."""
        name, path, _, _ = modpkginfo
        whole = f"{path}.{name}" if path else name
        return f'<a href="{whole}.html">{name}</a>' if whole in self._known else name

    def docother(self, object: Any, name: str | None = None, mod: str | None = None, *ignored: Any) -> str:  # noqa: A002
        """A value; only small ones that cannot tell about this machine are shown."""
        del mod, ignored
        shown = escape(repr(object)) if isinstance(object, _PLAIN) else f"<i>{escape(type(object).__name__)}</i>"
        if len(shown) > _LONGEST_VALUE or (isinstance(object, str | bytes) and len(object) > 1 and "/" in shown):
            shown = f"<i>{type(object).__name__}</i>"
        return f"<strong>{escape(name or '')}</strong> = {shown}" if name else shown

    def _is_ours(self, address: str) -> bool:
        page = address.partition("#")[0]
        return not page or page.removesuffix(".html") in self._known


def summary(module: ModuleType, name: str) -> tuple[str, str]:
    """A few words about a module for its title, and the first sentences of its text."""
    paragraphs = (" ".join(part.split()) for part in cleandoc(module.__doc__ or "").split("\n\n"))
    cleaned = (_RULE.split(_ADDRESS.sub("", text))[0].strip() for text in paragraphs)
    called = re.compile(rf"(?:module )?{re.escape(name)}(?:\.py)?(?: module)?\s*(?:--?|:|$)\s*", re.IGNORECASE)
    lines = (called.sub("", text, count=1) if called.match(text) else text for text in cleaned)
    first = next((line for line in lines if line), "")
    return _shortened(_SENTENCE_END.split(first)[0].rstrip("."), _TITLE_LENGTH), _shortened(first, _DESCRIPTION_LENGTH)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rpartition(" ")[0].rstrip(",;:(") + " …"


def _paths_of_this_machine() -> list[str]:
    found = {sys.executable, sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    return sorted((path for path in found if len(path) > 1), key=len, reverse=True)
