"""In a real browser with a stubbed recogniser, a reader speaks a query, sees it in the box, and then sends it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from web.axe import SCHEMES, WIDTHS, violations
from web.engines import FakeEngine
from web.serving import Site, searching

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.slow

STUB = """
window.SpeechRecognition = class extends EventTarget {
  constructor() { super(); window.recogniser = this; this.calls = []; }
  start() { this.calls.push("start"); if (window.cannotStart) throw new Error("busy"); }
  stop() { this.calls.push("stop"); this.dispatchEvent(new Event("end")); }
  abort() { this.calls.push("abort"); this.fail("aborted"); }
  hear(...texts) {
    const results = texts.map(([transcript, isFinal]) => Object.assign([{ transcript }], { isFinal }));
    this.dispatchEvent(Object.assign(new Event("result"), { results }));
  }
  fail(error) {
    this.dispatchEvent(Object.assign(new Event("error"), { error }));
    this.dispatchEvent(new Event("end"));
  }
};
"""
ABSENT = "delete window.SpeechRecognition; delete window.webkitSpeechRecognition;"
ERRORS = {
    "not-allowed": "The microphone is blocked for this site.",
    "service-not-allowed": "Your browser does not allow speech recognition here.",
    "no-speech": "Nothing was heard.",
    "audio-capture": "No microphone was found.",
    "network": "Your browser could not reach its speech service.",
    "aborted": "Listening was stopped.",
    "language-not-supported": "Your browser does not understand speech in this language.",
    "an error of tomorrow": "Your browser could not understand the speech.",
}


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    with searching(FakeEngine()) as served:
        yield served


@pytest.fixture
def page(visit: BrowserContext, site: Site) -> Page:
    """The result page in a browser with the stub."""
    visit.add_init_script(STUB)
    page = visit.new_page()
    page.goto(f"{site.base}/search?q=old+harbour")
    return page


def hear(page: Page, *texts: tuple[str, bool]) -> None:
    """Let the recogniser give these texts; a true value marks a final text."""
    page.evaluate("(texts) => window.recogniser.hear(...texts)", texts)


def begin(page: Page) -> None:
    """Press the button and agree."""
    page.get_by_role("button", name="Search by voice").click()
    page.get_by_role("button", name="Start").click()


def status(page: Page) -> str:
    return page.locator(".voice-status").inner_text()


def recogniser(page: Page, name: str) -> Any:
    return page.evaluate(f"window.recogniser?.{name}")


def has_focus(page: Page, selector: str) -> bool:
    return bool(page.evaluate("(selector) => document.activeElement.matches(selector)", selector))


def test_a_spoken_query_is_shown_and_sent_only_by_the_reader(page: Page) -> None:
    begin(page)
    assert recogniser(page, "calls") == ["start"]
    assert (recogniser(page, "interimResults"), recogniser(page, "lang")) == (True, "en-US")
    assert status(page).startswith("Listening…")
    assert page.get_by_role("button", name="Stop listening").is_visible()
    hear(page, ("roman", False))
    assert page.locator("#q").input_value() == "roman"
    hear(page, ("roman", True), (" lighthouses", True))
    assert page.locator("#q").input_value() == "roman lighthouses"
    assert page.url.endswith("q=old+harbour"), "nothing is sent yet"
    assert has_focus(page, "#q")
    assert status(page) == "Press Enter to search for this."
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=roman+lighthouses")


def test_the_first_press_says_who_hears_the_audio(page: Page) -> None:
    page.get_by_role("button", name="Search by voice").click()
    text = page.get_by_role("dialog", name="Search by voice").inner_text()
    assert "The maker of your browser may hear and process what you say" in text
    assert "Google" in text
    assert recogniser(page, "calls") is None, "nothing listens yet"
    page.get_by_role("button", name="Cancel").click()
    assert recogniser(page, "calls") is None
    page.get_by_role("button", name="Search by voice").click()
    page.get_by_role("button", name="Start").click()
    page.keyboard.press("Escape")
    page.reload()
    page.get_by_role("button", name="Search by voice").click()
    assert recogniser(page, "calls") == ["start"], "asked once in a session"
    assert page.context.cookies() == []
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_role("button", name="Search by voice").click()
    assert other.get_by_role("dialog").is_visible(), "another session asks again"


def test_every_failure_is_one_sentence_and_the_typed_text_returns(page: Page) -> None:
    begin(page)
    for error, sentence in ERRORS.items():
        hear(page, ("wrong", False))
        page.evaluate("(error) => window.recogniser.fail(error)", error)
        assert status(page).startswith(sentence)
        assert page.locator("#q").input_value() == "old harbour"
        page.get_by_role("button", name="Search by voice").click()
    page.get_by_role("button", name="Stop listening").click()
    assert status(page).startswith("Nothing was heard.")
    page.evaluate("window.cannotStart = true")
    page.get_by_role("button", name="Search by voice").click()
    assert status(page).startswith("Your browser could not understand the speech.")


def test_the_keyboard_is_enough(page: Page) -> None:
    page.locator("#q").focus()
    page.keyboard.press("Tab")
    assert has_focus(page, "button.voice")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    assert not page.get_by_role("dialog").is_visible()
    assert recogniser(page, "calls") is None
    assert has_focus(page, "button.voice")
    page.keyboard.press("Space")
    assert has_focus(page, "dialog button[value=start]")
    page.keyboard.press("Enter")
    hear(page, ("roman", False))
    page.keyboard.press("Escape")
    assert recogniser(page, "calls") == ["start", "abort"]
    assert (status(page), page.locator("#q").input_value()) == ("Listening was stopped.", "old harbour")
    page.keyboard.press("Enter")
    hear(page, ("roman", False))
    page.keyboard.press("Enter")  # stops; the text so far stays
    assert recogniser(page, "calls") == ["start", "stop"]
    assert has_focus(page, "#q")
    assert page.locator("#q").input_value() == "roman"
    page.keyboard.type("s")
    assert status(page) == ""


def test_a_browser_without_speech_recognition_has_no_button(visit: BrowserContext, site: Site) -> None:
    visit.add_init_script(ABSENT)
    page = visit.new_page()
    for path in ("/", "/search?q=x"):
        page.goto(site.base + path, wait_until="networkidle")
        assert page.locator("button.voice, dialog, .voice-status").count() == 0
    assert "voice" not in page.locator("form.box").inner_html()


def test_the_dialog_and_the_button_are_accessible(browser: Browser, site: Site) -> None:
    for scheme in SCHEMES:
        with browser.new_context(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce") as context:
            context.add_init_script(STUB)
            page = context.new_page()
            page.goto(site.base)
            for width in WIDTHS:
                page.set_viewport_size({"width": width, "height": 800})
                page.get_by_role("button", name="Search by voice").click()
                assert violations(page) == []
                page.get_by_role("button", name="Cancel").click()
            begin(page)
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= 1280


def test_the_voice_button_moves_only_where_motion_is_welcome(browser: Browser, site: Site) -> None:
    seen = []
    for motion in ("reduce", "no-preference"):
        with browser.new_context(reduced_motion=motion) as context:
            context.add_init_script(STUB)
            page = context.new_page()
            page.goto(site.base)
            begin(page)
            seen.append(page.locator("button.voice").evaluate("(button) => getComputedStyle(button).animationName"))
    assert seen == ["none", "listening"]
