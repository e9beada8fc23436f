"""Builds the HTML of a documentation page."""

from __future__ import annotations

from html import escape

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
.code, pre, code { font-family: ui-monospace, monospace; font-size: .9em; white-space: pre-wrap; }
section, footer { border-top: 1px solid #9995; margin-top: 1.5rem; }
dl { margin: .5rem 0; } dd { margin-left: 2rem; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } a { color: #8bf; } }
"""
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>{description}
<style>{style}</style>
</head>
<body>
{content}
{navigation}
</body>
</html>
"""


def page(title: str, content: str, *, description: str = "", parents: tuple[tuple[str, str], ...] = ()) -> bytes:
    """A whole page; *parents* are the URLs and titles of its parent pages."""
    meta = f'\n<meta name="description" content="{escape(description)}">' if description else ""
    breadcrumb = " &rsaquo; ".join(link(address, name) for address, name in parents)
    # Below the text, because a snippet should start with the text of the page.
    navigation = f"<footer><nav>{breadcrumb}</nav></footer>" if breadcrumb else ""
    return _PAGE.format(
        title=escape(title), description=meta, style=_STYLE, navigation=navigation, content=content
    ).encode()


def link(address: str, text: str) -> str:
    """A link, escaped."""
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def link_list(entries: list[tuple[str, str, str]]) -> str:
    """A list of links, from URL, name and description."""
    rows = (f"<dt>{link(url, name)}</dt><dd>{escape(about)}</dd>" for url, name, about in entries)
    return f"<dl>{''.join(rows)}</dl>"
