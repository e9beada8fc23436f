"""Renders the documentation of a module with `pydoc`, as HTML that is easy to read and to index.

Compared with pydoc's own output, sections with headings replace tables, links lead only to existing pages, and paths
and environment variables of this machine are removed.
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
_VALUE_LENGTH = 100
_TITLE_LENGTH = 70
_DESCRIPTION_LENGTH = 300
_SENTENCE_END = re.compile(r"(?<=\w\w)\.(?:\s|$)")
_RULE = re.compile(r"\s*[=~*-]{3,}")  # the line under a heading
_ADDRESS = re.compile(r"\s*<?https?://\S+")


class ModulePage(pydoc.HTMLDoc):
    """Renders the pages of modules, one after the other."""

    def __init__(self, known: Collection[str]) -> None:
        """*known* are the modules that have a page, so that links to them work."""
        self._known = known
        self._name = ""
        self._paths = _local_paths()

    def content(self, module: ModuleType, name: str) -> str:
        """The body of the page; raises what pydoc raises when it cannot describe the module."""
        self._name = name
        content = self.docmodule(module)
        for path in self._paths:
            content = content.replace(path, "…")
        return content

    def heading(self, title: str, extras: str = "") -> str:
        """The module name, without the source path that pydoc shows."""
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
        """Escaped text; the style sheet keeps the line breaks, so words are not split by markup."""
        return escape(text.expandtabs(), quote=False)

    def multicolumn(self, items: list[Any], format: Any) -> str:  # noqa: A002  # pydoc's name for it
        """A list of modules."""
        return f"<ul>{''.join(f'<li>{format(item)}</li>' for item in items)}</ul>"

    def namelink(self, name: str, *dicts: Mapping[str, str]) -> str:
        """The name of a class or function, linked when its page exists."""
        found = next((table[name] for table in dicts if name in table), "")
        return f'<a href="{found}">{name}</a>' if found and self._has_page(found) else name

    def classlink(self, object: Any, modname: str) -> str:  # noqa: A002
        """A class, linked when its page exists."""
        text = super().classlink(object, modname)
        return text if object.__module__ in self._known else re.sub(r"<[^>]*>", "", text)

    def modulelink(self, object: Any) -> str:  # noqa: A002
        """A module that this module imports."""
        name = object.__name__
        return f'<a href="{name}.html">{name}</a>' if name in self._known else name

    def modpkglink(self, modpkginfo: tuple[str, str, bool, bool]) -> str:
        """A module inside this package."""
        name, path, _, _ = modpkginfo
        whole = f"{path}.{name}" if path else name
        return f'<a href="{whole}.html">{name}</a>' if whole in self._known else name

    def docother(self, object: Any, name: str | None = None, mod: str | None = None, *ignored: Any) -> str:  # noqa: A002
        """A value; long values and paths are replaced by their type."""
        del mod, ignored
        shown = escape(repr(object)) if isinstance(object, _PLAIN) else f"<i>{escape(type(object).__name__)}</i>"
        if len(shown) > _VALUE_LENGTH or (isinstance(object, str | bytes) and len(object) > 1 and "/" in shown):
            shown = f"<i>{type(object).__name__}</i>"
        return f"<strong>{escape(name or '')}</strong> = {shown}" if name else shown

    def _has_page(self, address: str) -> bool:
        page = address.partition("#")[0]
        return not page or page.removesuffix(".html") in self._known


def summary(module: ModuleType, name: str) -> tuple[str, str]:
    """A short description of a module for the page title, and a longer one for the meta description."""
    paragraphs = (" ".join(part.split()) for part in cleandoc(module.__doc__ or "").split("\n\n"))
    cleaned = (_RULE.split(_ADDRESS.sub("", text))[0].strip() for text in paragraphs)
    name_prefix = re.compile(rf"(?:module )?{re.escape(name)}(?:\.py)?(?: module)?\s*(?:--?|:|$)\s*", re.IGNORECASE)
    lines = (name_prefix.sub("", text, count=1) if name_prefix.match(text) else text for text in cleaned)
    first = next((line for line in lines if line), "")
    return _shortened(_SENTENCE_END.split(first)[0].rstrip("."), _TITLE_LENGTH), _shortened(first, _DESCRIPTION_LENGTH)


def _shortened(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length].rpartition(" ")[0].rstrip(",;:(") + " …"


def _local_paths() -> list[str]:
    found = {sys.executable, sys.prefix, sys.base_prefix, *sysconfig.get_paths().values()}
    return sorted((path for path in found if len(path) > 1), key=len, reverse=True)
