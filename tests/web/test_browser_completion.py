"""In a real browser, a reader completes the query with the keyboard, the mouse or a finger."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from periplus.search.suggest.completion import Suggestion
from web.engines import FakeEngine
from web.serving import Site, searching
from web.test_browser_attacks import CANARY
from web.test_hostile import PAYLOADS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page, Route

pytestmark = pytest.mark.slow

WORDS = ["harbour", "harbour master", "harbour of Rome", "Hash tables", "hash"]


class Engine(FakeEngine):
    """Completes from a few texts."""

    def complete(self, typed: str, most: int = 8) -> list[Suggestion]:
        self.asked.append({"typed": typed, "most": most})
        return [Suggestion(word, "title", 1.0) for word in WORDS if word.lower().startswith(typed.lower())][:most]


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine()


@pytest.fixture(scope="module")
def site(engine: Engine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


@pytest.fixture
def page(visit: BrowserContext, site: Site, engine: Engine) -> Page:
    found = visit.new_page()
    found.goto(site.base)
    engine.asked.clear()
    return found


def box(page: Page) -> Locator:
    return page.get_by_role("combobox", name="Search for")


def options(page: Page) -> list[str]:
    return page.get_by_role("option").all_inner_texts()


def typed(page: Page, text: str) -> None:
    """Type into the box and wait for suggestions."""
    box(page).press_sequentially(text)
    page.get_by_role("listbox", name="Suggestions").wait_for()


def active(page: Page) -> str | None:
    """The text of the highlighted suggestion, which a screen reader announces."""
    name = box(page).get_attribute("aria-activedescendant")
    selected = page.locator("[role=option][aria-selected=true]")
    if name is None:
        assert selected.count() == 0
        return None
    assert selected.get_attribute("id") == name
    return selected.inner_text()


def expanded(page: Page) -> str | None:
    return box(page).get_attribute("aria-expanded")


def test_the_box_is_a_combobox_that_controls_a_list(page: Page) -> None:
    assert (expanded(page), box(page).get_attribute("aria-autocomplete")) == ("false", "list")
    typed(page, "harb")
    assert expanded(page) == "true"
    assert page.locator(f"#{box(page).get_attribute('aria-controls')}").get_attribute("role") == "listbox"
    assert options(page) == WORDS[:3]
    assert page.locator(".unseen[role=status]").inner_text() == "3 suggestions"
    assert active(page) is None, "Enter would search for the typed text"


def test_arrows_home_and_end_move_and_enter_searches(page: Page) -> None:
    typed(page, "harb")
    seen = []
    for key in ("ArrowDown", "ArrowDown", "End", "ArrowDown", "ArrowUp", "Home", "ArrowUp", "ArrowUp", "Home"):
        page.keyboard.press(key)
        seen.append(active(page))
    first, second, last = WORDS[:3]
    assert seen == [first, second, last, None, last, first, None, last, first]
    assert box(page).input_value() == "harb", "the typed text stays until a suggestion is chosen"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=harbour+master")


def test_enter_without_a_highlighted_suggestion_searches_for_the_typed_text(page: Page) -> None:
    typed(page, "harb")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=harb")


def test_escape_closes_the_list_and_keeps_text_and_focus(page: Page) -> None:
    typed(page, "harb")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    assert (expanded(page), box(page).input_value(), active(page)) == ("false", "harb", None)
    assert page.locator("#q:focus").count() == 1
    page.keyboard.press("ArrowDown")
    assert (expanded(page), options(page)) == ("true", WORDS[:3])


def test_tab_takes_the_highlighted_suggestion_and_moves_on(page: Page) -> None:
    typed(page, "harb")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    assert (box(page).input_value(), expanded(page)) == ("harbour master", "false")
    assert page.evaluate("document.activeElement.ariaLabel") == "Search by voice"


def test_tab_without_a_highlighted_suggestion_only_closes_the_list(page: Page) -> None:
    typed(page, "harb")
    page.keyboard.press("Tab")
    assert (box(page).input_value(), expanded(page)) == ("harb", "false")


def test_a_click_searches_for_the_suggestion(page: Page) -> None:
    typed(page, "hash")
    page.get_by_role("option", name="Hash tables").click()
    page.wait_for_url("**/search?q=Hash+tables")


def test_a_finger_searches_for_the_suggestion(browser: Browser, site: Site) -> None:
    with browser.new_context(has_touch=True, viewport={"width": 360, "height": 740}) as context:
        page = context.new_page()
        page.goto(f"{site.base}/search?q=x")
        box(page).fill("harb")
        option = page.get_by_role("option", name="harbour master")
        option.wait_for()
        size = option.bounding_box()
        assert size is not None
        assert size["height"] >= 24
        option.tap()
        page.wait_for_url("**/search?q=harbour+master")


def test_the_same_text_is_sent_once_and_fast_typing_is_one_request(page: Page, engine: Engine) -> None:
    typed(page, "hash")
    sent = [one["typed"] for one in engine.asked]
    assert sent[-1] == "hash"
    page.keyboard.press("Shift")
    page.keyboard.press("ArrowLeft")
    box(page).fill("harb")
    page.get_by_role("option", name="harbour of Rome").wait_for()
    box(page).fill("hash")
    page.get_by_role("option", name="Hash tables").wait_for()
    box(page).fill("")
    page.wait_for_timeout(200)
    assert [one["typed"] for one in engine.asked] == [*sent, "harb"]
    assert expanded(page) == "false"


def test_a_late_answer_to_an_earlier_text_is_dropped(page: Page) -> None:
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile(r"suggest\?q=harb$"), hold)
    with page.expect_request(re.compile(r"q=harb$")):
        box(page).fill("harb")
    box(page).fill("hash")
    page.get_by_role("option", name="Hash tables").wait_for()
    for route in held:
        route.fulfill(json={"query": "harb", "suggestions": [{"text": "late", "kind": "title"}]})
    page.wait_for_timeout(100)
    assert options(page) == WORDS[3:]


def test_nothing_is_sent_while_a_word_is_composed(page: Page, engine: Engine) -> None:
    page.evaluate("""() => {
        const box = document.getElementById("q");
        box.dispatchEvent(new CompositionEvent("compositionstart"));
        box.value = "harb";
        box.dispatchEvent(new InputEvent("input", { isComposing: true }));
        box.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", isComposing: true, bubbles: true }));
    }""")
    page.wait_for_timeout(200)
    assert (engine.asked, expanded(page)) == ([], "false")
    page.evaluate("document.getElementById('q').dispatchEvent(new CompositionEvent('compositionend'))")
    page.get_by_role("option", name="harbour master").wait_for()
    assert [one["typed"] for one in engine.asked] == ["harb"]


def test_without_an_answer_the_box_still_searches(page: Page) -> None:
    page.route("**/api/suggest*", lambda route: route.fulfill(status=503, body="no"))
    box(page).fill("harb")
    page.wait_for_timeout(200)
    assert expanded(page) == "false"
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=harb")


def test_without_scripts_the_box_is_a_plain_form(browser: Browser, site: Site) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(site.base)
        assert page.locator("[role=combobox], [role=listbox]").count() == 0
        page.get_by_role("textbox", name="Search for").fill("harb")
        page.keyboard.press("Enter")
        page.wait_for_url("**/search?q=harb")


def test_no_payload_in_a_suggestion_runs(browser: Browser) -> None:
    engine = FakeEngine()
    with searching(engine) as site, browser.new_context() as context:
        context.add_init_script(CANARY)
        page = context.new_page()
        page.goto(site.base)
        for start in range(0, len(PAYLOADS), 8):
            engine.completions = [Suggestion(text, "title", 1.0) for text in PAYLOADS[start : start + 8]]
            with page.expect_response("**/api/suggest*"):
                box(page).fill(f"x{start}")
            page.wait_for_timeout(30)
            different = dict.fromkeys(" ".join(text.split()) for text in PAYLOADS[start : start + 8])
            assert page.get_by_role("option").all_text_contents() == list(different)
            page.keyboard.press("ArrowDown")
        assert page.evaluate("window.ran") == []
