"""In a real browser, crawled text runs no script in any view of the console."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from console.filled import VIEWS, Filling, fill, showing
from web.serving import Site
from web.test_browser_attacks import CANARY
from web.test_hostile import PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.slow
CHOSEN = PAYLOADS[:: max(1, len(PAYLOADS) // 40)]  # the views show some rows of each kind only


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("poisoned") / "home"
    fill(home, Filling(hosts=1, texts=tuple(CHOSEN)))
    with showing(home) as served:
        yield served


def test_crawled_text_runs_no_script_in_any_view(browser: Browser, poisoned: Site) -> None:
    with browser.new_context() as context:
        context.add_init_script(CANARY)
        page = context.new_page()
        page.on("dialog", lambda dialog: dialog.dismiss())
        paths = [*VIEWS.values(), "/console/errors?reason=tls", "/console/refusals", "/console/hosts?order=next"]
        paths += [path for number, text in enumerate(CHOSEN) for path in _about(number, text)]
        for path in paths:
            page.goto(poisoned.base + path)
            assert _ran(page) == [], path


def _about(number: int, text: str) -> list[str]:
    """Pages about a URL and a host whose texts are hostile."""
    typed = quote(f"https://docs.example.org/{number}?{text}", errors="replace")
    return [
        f"/console/url?url={typed}",
        f"/console/inspect?what={quote(text, errors='replace')}&q={quote(text, errors='replace')}",
        f"/console/robots?url={quote(f'https://{number}.example.org/')}&agent={quote(text, errors='replace')[:100]}",
        f"/console/hosts?contains={quote(text, errors='replace')[:200]}",
    ]


def _ran(page: Page) -> list[str]:
    found: list[str] = page.evaluate("new Promise(done => setTimeout(() => done(window.ran), 20))")
    return found
