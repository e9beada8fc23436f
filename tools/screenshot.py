"""Takes the screenshots of the documentation from a running demo.

Usage: tools/screenshot.py ADDRESS [NAME ...], for example after `periplus demo --port 8080`:
tools/screenshot.py http://127.0.0.1:8080. The demo has neither images nor definitions: their pictures come from a
crawl of documentation. The picture of the weather needs a weather server, which PERIPLUS_SERVE__WEATHER_ADDRESS names.
Those of the console, whose names begin with `console-`, come from a site beside a running crawl.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
QUERY = "/search?q=parse+command+line+arguments"


class Shot(NamedTuple):
    """A picture of a page, after some clicks."""

    path: str
    clicks: tuple[str, ...] = ()  # CSS selectors
    width: int = 1280
    height: int = 860


SHOTS = {
    "home": Shot("/"),
    "results": Shot(QUERY),
    "results-phone": Shot(QUERY, width=360, height=760),
    "filters": Shot(QUERY, (".filters summary",)),
    "why": Shot(QUERY, (".hit .menu summary", ".hit .menu a[data-why]")),
    "cached": Shot(QUERY, (".hit .menu summary", ".hit .menu a[href^='/cached']")),
    "calculator": Shot("/search?q=15%25+of+80"),
    "definition": Shot("/search?q=what+is+a+mutex"),
    "weather": Shot("/search?q=weather+boston"),
    "images": Shot("/search?q=layer+mask&tab=images"),
    "playground": Shot("/playground?q=parse+command+line+arguments&w=title:3"),
    "page": Shot(QUERY, (".hit .menu summary", ".hit .menu a[href^='/page']")),
}
CONSOLE = {
    "console-overview": Shot("/console/"),
    "console-workers": Shot("/console/workers"),
    "console-commands": Shot("/console/commands", height=420),
    "console-hosts": Shot("/console/hosts"),
    "console-host": Shot("/console/hosts", ("tbody th a",), height=640),
    "console-url": Shot("/console/hosts", ("tbody th a", "tbody td a"), height=640),
    "console-inspector": Shot("/console/inspect?what=https://elsewhere.example/", height=560),
    "console-errors": Shot("/console/errors"),
    "console-refusals": Shot("/console/refusals", height=640),
    "console-seeds": Shot("/console/seeds", height=700),
    "console-scope": Shot("/console/scope", height=700),
    "console-traps": Shot("/console/traps", height=420),
    "console-robots": Shot("/console/seeds", (".list td a", "dd a[href^='/console/robots']"), height=560),
    "console-runs": Shot("/console/runs", height=700),
    "console-generations": Shot("/console/generations", height=420),
    "console-settings": Shot("/console/settings?only=changed", height=560),
}
SHOTS |= CONSOLE


def main(address: str, names: list[str]) -> None:
    """Saves these pictures, or all."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        for name in names or SHOTS:
            (FOLDER / f"{name}.webp").write_bytes(picture(browser, address.rstrip("/"), SHOTS[name]))
        browser.close()


def picture(browser: Browser, address: str, shot: Shot) -> bytes:
    """One page as WebP, which playwright itself cannot write."""
    with browser.new_context(viewport={"width": shot.width, "height": shot.height}, color_scheme="light") as context:
        page = context.new_page()
        for _ in range(2):  # the first answer reads the index from disk
            page.goto(address + shot.path)
        for selector in shot.clicks:
            page.locator(selector).first.click()
        if shot.width > 1000 and not shot.clicks and page.locator(".hit h2 a").count():
            page.locator(".hit h2 a").first.focus()
        page.wait_for_timeout(800)  # the panel beside the results
        return captured(page)


def captured(page: Page) -> bytes:
    """The visible part of a page as WebP."""
    session = page.context.new_cdp_session(page)
    data = session.send("Page.captureScreenshot", {"format": "webp", "quality": 82})["data"]
    return base64.b64decode(data)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
