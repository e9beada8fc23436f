"""Takes the screenshots of the README from a running demo.

Usage: tools/screenshot.py ADDRESS, for example after `periplus demo --port 8080`: tools/screenshot.py http://127.0.0.1:8080
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "images"
CHROMIUM = "/usr/bin/chromium"
PAGES = {"home": "/", "results": "/search?q=parse+command+line+arguments"}


def main(address: str) -> None:
    """Saves one screenshot per page."""
    FOLDER.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        view = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme="light")
        for name, path in PAGES.items():
            for _ in range(2):  # the first answer reads the index from disk
                view.goto(address.rstrip("/") + path)
            view.screenshot(path=FOLDER / f"{name}.png")
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1])
