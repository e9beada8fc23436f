"""A real browser for tests, where one is installed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

_QUIET = [
    "--no-sandbox",  # tests may run as root; nothing but this machine is visited
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, for one module at a time, because its driver occupies the event loop of this thread."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs a browser: install Debian's package chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright to drive the browser")
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=program, args=_QUIET)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[BrowserContext]:
    """A fresh profile."""
    with browser.new_context() as context:
        yield context
