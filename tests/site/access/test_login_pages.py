"""A person logs in with the password, uses the console, and logs out."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest

from access_checks import GuardedSite, Target
from guarded_console import PASSWORD, TOKEN, StandIn, credentials, guarded
from periplus.config import Console, Serving
from periplus.site.access.login_state import ATTEMPTS, LoginState
from periplus.site.access.sessions import COOKIE
from periplus.site.access_log import AccessLog
from periplus.site.front import FrontOptions
from web.serving import Answer

HOME = Target("/console/", "GET")
OUT = Target("/console/logout", "POST")


@pytest.fixture
def site() -> Iterator[GuardedSite]:
    with guarded() as served:
        yield served


def log_in(site: GuardedSite, password: str = PASSWORD, target: str = "", **headers: str) -> Answer:
    own = {"Accept": "text/html", "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    sent = {
        name: value for name, value in (own | {k.replace("_", "-"): v for k, v in headers.items()}).items() if value
    }
    return site.site.get(site.login, sent, "POST", urlencode({"password": password, "next": target}).encode())


def cookie_of(answer: Answer) -> str:
    return answer.headers["set-cookie"].partition(";")[0]


def test_a_person_comes_back_to_the_page_that_was_asked_for(site: GuardedSite) -> None:
    asked = site.site.get("/console/hosts/%C3%A9?q=b%20c&d=%C3%A9", {"Accept": "text/html"})
    assert asked.headers["location"] == "/console/login?next=/console/hosts/%25C3%25A9%3Fq%3Db%2520c%26d%3D%25C3%25A9"
    form = site.site.get(asked.headers["location"], {"Accept": "text/html"}).page
    target = str(form.select("input[name=next]")[0].attrs["value"])
    answer = log_in(site, target=target)
    assert (answer.status, answer.headers["location"]) == (303, "/console/hosts/%C3%A9?q=b%20c&d=%C3%A9")
    assert site.send(Target(answer.headers["location"], "GET"), {"Cookie": cookie_of(answer)}).status == 200


def test_a_very_long_address_is_not_returned_to(site: GuardedSite) -> None:
    asked = site.site.get(f"/console/hosts/a?q={'a' * 3_000}", {"Accept": "text/html"})
    assert (asked.status, asked.headers["location"]) == (303, "/console/login?next=")


@pytest.mark.parametrize(
    "target",
    [
        "",
        "//evil.example/",
        "https://evil.example/",
        "/search",
        "/console/\\evil",
        "/console/\n",
        "/consoles/",
        "javascript:",
    ],
)
def test_a_login_leads_to_the_console_only(site: GuardedSite, target: str) -> None:
    assert log_in(site, target=target).headers["location"] == "/console/"


@pytest.mark.parametrize("target", ["//evil.example/", "/\\evil.example/", "/\t/evil.example"])
def test_a_login_leads_to_this_site_only_where_the_console_is_the_whole_site(target: str) -> None:
    with guarded(StandIn("")) as site:
        assert log_in(site, target=target).headers["location"] == "/"


def test_the_cookie_is_for_the_console_alone(site: GuardedSite) -> None:
    cookie = log_in(site).headers["set-cookie"]
    parts = {part.strip().lower() for part in cookie.split(";")[1:]}
    assert {"httponly", "samesite=strict", "path=/console", "max-age=43200"} <= parts
    assert "secure" not in parts
    assert "secure" in log_in(site, X_Forwarded_Proto="https").headers["set-cookie"].lower()


def test_the_cookie_of_a_site_with_https_is_secure() -> None:
    with guarded(serve=Serving(public_address="https://search.example")) as site:
        assert "secure" in log_in(site).headers["set-cookie"].lower()


def test_a_wrong_password_is_refused_and_logged_without_it(site: GuardedSite, caplog: pytest.LogCaptureFixture) -> None:
    answer = log_in(site, "open sesame please", "/console/seeds")
    assert answer.status == 401
    assert "set-cookie" not in answer.headers
    assert "not the password" in answer.page.select("[role=alert]")[0].text
    assert answer.page.select("input[name=next]")[0].attrs["value"] == "/console/seeds"
    assert caplog.messages == ["a login to the console failed, from 127.0.0.1"]


@pytest.mark.parametrize("headers", [{"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "", "Origin": "null"}])
def test_another_site_cannot_log_a_person_in(site: GuardedSite, headers: dict[str, str]) -> None:
    answer = log_in(site, **headers)
    assert (answer.status, "set-cookie" in answer.headers) == (403, False)


def test_the_sixth_wrong_password_of_a_minute_is_not_looked_at(site: GuardedSite) -> None:
    assert [log_in(site, "wrong password").status for _ in range(ATTEMPTS)] == ATTEMPTS * [401]
    answer = log_in(site)
    assert answer.status == 429, "even the right one"
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert "Try again in" in answer.page.select("[role=alert]")[0].text
    assert site.send(HOME, {"Cookie": site.session()[0]}).status == 200, "a session goes on"


def test_right_passwords_do_not_count(site: GuardedSite) -> None:
    assert {log_in(site).status for _ in range(ATTEMPTS + 1)} == {303}


def test_logging_out_ends_the_session_also_for_a_copy_of_the_cookie(site: GuardedSite) -> None:
    cookie = cookie_of(log_in(site))
    page = site.send(HOME, {"Cookie": cookie}).page
    token = str(page.select("form[action$=logout] input[name=token]")[0].attrs["value"])
    answer = site.send(OUT, {"Cookie": cookie}, token)
    assert (answer.status, answer.headers["location"]) == (303, "/console/login")
    assert re.match(rf'{COOKIE}=("")?;.*max-age=0', answer.headers["set-cookie"], re.IGNORECASE)
    assert site.send(HOME, {"Cookie": cookie}).status == 303
    other, _ = site.session()
    assert site.send(HOME, {"Cookie": other}).status == 200, "other sessions go on"


def test_a_session_ends_in_all_processes(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "logins.json"
    with guarded(state=LoginState(path)) as first, guarded(state=LoginState(path)) as second:
        cookie, token = first.session()
        assert second.send(HOME, {"Cookie": cookie}).status == 200
        first.send(OUT, {"Cookie": cookie}, token)
        assert second.send(HOME, {"Cookie": cookie}).status == 303


def test_a_person_who_is_logged_in_needs_no_login_page(site: GuardedSite) -> None:
    answer = site.send(Target("/console/login", "GET"), {"Cookie": site.session()[0]})
    assert (answer.status, answer.headers["location"]) == (303, "/console/")


def test_a_session_lasts_as_long_as_the_settings_say() -> None:
    with guarded(settings=Console(session_hours=0.5)) as site:
        assert "max-age=1800" in log_in(site).headers["set-cookie"].lower()


def test_no_secret_is_in_a_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    path = tmp_path / "access.log"
    front = FrontOptions(log=AccessLog(str(path), with_queries=True))
    with guarded(StandIn(front=front)) as site:
        cookie = cookie_of(log_in(site))
        log_in(site, "a wrong password")
        _, form = site.session()
        own_form = str(site.send(HOME, {"Cookie": cookie}).page.select("input[name=token]")[0].attrs["value"])
        site.send(Target("/console/seeds", "POST"), {"Cookie": cookie}, own_form)
        site.send(Target("/console/seeds", "POST"), {"Cookie": cookie}, form)
        for token in (TOKEN, "periplus_wrong-token"):
            site.send(Target("/console/api/overview", "GET"), {"Authorization": f"Bearer {token}"})
        site.send(OUT, {"Cookie": cookie}, own_form)
    written = path.read_text() + caplog.text + "".join(capfd.readouterr())
    assert written.count("POST /console/login") == 2
    secrets = [PASSWORD, "a wrong password", TOKEN, "periplus_wrong-token", cookie.partition("=")[2], own_form, form]
    secrets += [credentials().password, *credentials().tokens.values(), "secret of this test"]
    assert [secret for secret in secrets if secret in written or secret.replace(" ", "+") in written] == []
