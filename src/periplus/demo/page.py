"""What does a page of the documentation look like?"""

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


def page(title: str, content: str, *, description: str = "", trail: tuple[tuple[str, str], ...] = ()) -> bytes:
    """A whole page; *trail* are the addresses and names of the pages above it."""
    meta = f'\n<meta name="description" content="{escape(description)}">' if description else ""
    above = " &rsaquo; ".join(link(address, name) for address, name in trail)
    # Below the text: a snippet should begin with what the page is about.
    navigation = f"<footer><nav>{above}</nav></footer>" if above else ""
    return _PAGE.format(
        title=escape(title), description=meta, style=_STYLE, navigation=navigation, content=content
    ).encode()


def link(address: str, text: str) -> str:
    """A link, escaped."""
    return f'<a href="{escape(address)}">{escape(text)}</a>'


def listing(entries: list[tuple[str, str, str]]) -> str:
    """A list of links, each with a few words about where it leads: address, name, words."""
    rows = (f"<dt>{link(address, name)}</dt><dd>{escape(words)}</dd>" for address, name, words in entries)
    return f"<dl>{''.join(rows)}</dl>"
