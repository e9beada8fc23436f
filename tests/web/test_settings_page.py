"""A reader chooses settings, which are kept in a cookie only when they are saved."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from periplus.config import Serving
from periplus.site import forms
from web.engines import HARBOUR, FakeEngine
from web.serving import Answer, Site, searching

FORM = {"theme": "dark", "size": "30", "tab": "new"}  # without keys: the box is not checked


@pytest.fixture
def engine() -> FakeEngine:
    return FakeEngine(hits=60 * [HARBOUR])


@pytest.fixture
def site(engine: FakeEngine) -> Iterator[Site]:
    with searching(engine) as served:
        yield served


def save(site: Site, headers: dict[str, str] | None = None, **form: str) -> Answer:
    """Send the form as a browser does, from a page of the site unless *headers* say something else."""
    own = {"Content-Type": "application/x-www-form-urlencoded"}
    sent = own | ({"Origin": site.base} if headers is None else headers)
    return site.get("/settings", sent, method="POST", body=urlencode(form or FORM).encode())


def test_the_page_shows_what_is_chosen(site: Site) -> None:
    page = site.get("/settings").page
    form = page.select("main form")[0]
    assert (form.attrs["method"], form.attrs["action"]) == ("post", "/settings")
    assert page.select("input[name=theme][checked]")[0].attrs["value"] == "system"
    assert page.select("input[name=keys][checked]")
    assert not page.select("input[name=tab][checked]")
    chosen = site.get("/settings", {"Cookie": "settings=theme-light.keys-off.size-50.tab-new"}).page
    assert chosen.select("input[name=theme][checked]")[0].attrs["value"] == "light"
    assert not chosen.select("input[name=keys][checked]")
    assert chosen.select("option[selected]")[0].text == "50"
    assert chosen.select("input[name=tab][checked]")


def test_saved_settings_are_a_cookie_that_scripts_and_other_sites_cannot_read(site: Site) -> None:
    answer = save(site)
    assert (answer.status, answer.headers["location"]) == (303, "/settings?saved=1")
    value, *attributes = answer.headers["set-cookie"].split("; ")
    assert value == "settings=theme-dark.keys-off.size-30.tab-new"
    assert {attribute.lower() for attribute in attributes} == {
        "httponly",
        "samesite=strict",
        "path=/",
        "max-age=31536000",
    }
    assert "Settings saved" in site.get("/settings?saved=1").page.select("[role=status]")[0].text


def test_a_site_with_https_sends_a_secure_cookie(engine: FakeEngine) -> None:
    with searching(engine, Serving(public_address="https://search.example")) as site:
        answer = save(site, {"Origin": "https://search.example"})
        assert "; Secure" in answer.headers["set-cookie"]


def test_settings_that_are_all_usual_leave_no_cookie(site: Site) -> None:
    answer = save(site, theme="system", keys="on", size="")
    assert answer.headers["set-cookie"].startswith('settings=""; ')
    assert "Max-Age=0" in answer.headers["set-cookie"]


def test_settings_can_be_forgotten(site: Site) -> None:
    answer = save(site, action="forget", theme="dark")
    assert answer.headers["location"] == "/settings?forgotten=1"
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert "cookie" in site.get("/settings?forgotten=1").page.select("[role=status]")[0].text


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "null"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "SELF"},
    ],
)
def test_another_site_cannot_save_settings(site: Site, headers: dict[str, str]) -> None:
    sent = {name: value.replace("SELF", site.base) for name, value in headers.items()}
    answer = save(site, sent)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers
    assert "from this site" in answer.page.select(".notice")[0].text


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "same-origin", "Origin": "null"}]
)
def test_a_browser_that_vouches_for_the_origin_is_believed(site: Site, headers: dict[str, str]) -> None:
    assert save(site, headers).status == 303


def test_the_form_page_lets_old_browsers_name_their_origin(site: Site) -> None:
    answer = site.get("/settings")
    assert answer.headers["referrer-policy"] == "same-origin"
    assert answer.page.select("meta[name=referrer]")[0].attrs["content"] == "same-origin"


def test_a_form_that_is_too_long_is_refused(site: Site) -> None:
    answer = save(site, theme="x" * 5_000)
    assert answer.status == 413
    assert "set-cookie" not in answer.headers


def test_unknown_values_are_the_usual_ones(site: Site) -> None:
    answer = save(site, theme="<b>", keys="on", size="7", tab="\r\nX: y")
    assert answer.headers["set-cookie"].startswith('settings=""; ')


def test_results_follow_the_settings(site: Site, engine: FakeEngine) -> None:
    cookie = {"Cookie": "settings=size-20.tab-new"}
    page = site.get("/search?q=x", cookie).page
    assert len(page.select("li.hit")) == 20
    assert page.select("li.hit h2 a")[0].attrs["target"] == "_blank"
    assert page.select("nav.paging a[rel=next]")[0].attrs["href"] == "/search?q=x&size=20&page=2"
    other = site.get("/search?q=x&size=10", cookie).page
    assert other.select("nav.paging a[rel=next]")[0].attrs["href"] == "/search?q=x&size=10&page=2"
    assert "target" not in site.get("/search?q=x").page.select("li.hit h2 a")[0].attrs
    site.get("/api/search?q=x", cookie)
    assert engine.asked[-1]["size"] == 15, "a program gets what it asks for"


def test_no_page_sets_a_cookie_by_itself(site: Site) -> None:
    for path in ("/", "/search?q=x", "/settings", "/settings?saved=1", "/help", "/about", "/suggest?q=x"):
        assert "set-cookie" not in site.get(path, {"Cookie": "settings=theme-dark"}).headers


def test_a_form_that_never_ends_is_not_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "_FORM_SECONDS", 0.1)
    with site.connect() as connection:
        head = "POST /settings HTTP/1.1\r\nHost: a\r\nOrigin: http://a\r\nContent-Length: 9\r\n\r\ntheme"
        connection.sendall(head.encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 408 ")
