"""Checks pages in a real browser against the rules of axe-core (WCAG 2.2 AA and best practices)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Scheme = Literal["light", "dark"]
WIDTHS = (360, 768, 1280)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


_OPEN_MENUS = """(() => {
  const menus = [...document.querySelectorAll("main details, #keys")].slice(0, 3);
  menus.forEach((menu) => { menu.open = true; });
  return menus.some((menu) => menu.id !== "keys");
})()"""


def violations(page: Page, within: str | None = None) -> list[str]:
    """The rules that the page violates, each with the first element that does; *within*: only in these elements."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs the package axe-playwright-python")
    found = axe.Axe().run(page, context=within).response["violations"]
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:120]}" for rule in found]


def violations_of(
    browser: Browser, base: str, views: Mapping[str, str], width: int, scheme: Scheme
) -> dict[str, list[str]]:
    """The violations by view, with all menus closed and then open, where it has any; views without any are left out."""
    found: dict[str, list[str]] = {}
    with browser.new_context(viewport={"width": width, "height": 860}, color_scheme=scheme, bypass_csp=True) as context:
        page = context.new_page()
        for name, path in views.items():
            page.goto(base + path)
            seen = violations(page)
            if page.evaluate(_OPEN_MENUS):
                seen += violations(page)
            if seen:
                found[name] = seen
    return found
