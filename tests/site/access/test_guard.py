"""Every route of a console refuses strangers, forged forms and wrong names, whatever routes the console has (S9)."""

from __future__ import annotations

import pytest

from access_checks import (
    Target,
    refused_visitors,
    targets,
    wrongly_answered_reads,
    wrongly_answered_without_password,
    wrongly_answered_writes,
)
from guarded_console import PASSWORD, TOKEN, StandIn, credentials, guarded
from periplus.config import Console, Serving
from periplus.site.access.credentials import Credentials
from periplus.site.access.tokens import hash_token

NO_CREDENTIALS = Credentials  # call it
SEEDS = Target("/console/seeds", "POST")


def test_the_checks_see_every_route_of_an_application() -> None:
    found = {f"{target.method} {target.path}" for target in targets(StandIn().routes())}
    assert {"POST /console/hosts/1/block", "DELETE /console/api/traps/1", "GET /console/api/overview"} <= found
    assert len([target for target in targets(StandIn().routes()) if target.writes]) == 5


@pytest.mark.parametrize("prefix", ["/console", ""])
def test_no_writing_route_accepts_a_stranger_or_a_forged_form(prefix: str) -> None:
    console = StandIn(prefix)
    with guarded(console) as site:
        assert wrongly_answered_writes(site) == []
    assert console.done == []


@pytest.mark.parametrize("prefix", ["/console", ""])
def test_every_reading_route_needs_a_login_and_is_not_stored(prefix: str) -> None:
    with guarded(StandIn(prefix)) as site:
        assert wrongly_answered_reads(site) == []


def test_visitors_with_a_session_or_a_token_may_do_everything() -> None:
    console = StandIn()
    with guarded(console) as site:
        assert refused_visitors(site) == []
    assert {kind for kind, _, _ in console.done} == {"session", "token"}
    assert len(console.done) == 5 * 4, "every writing route, in each way"


def test_without_a_password_only_a_person_on_this_machine_is_admitted() -> None:
    console = StandIn()
    with guarded(console, NO_CREDENTIALS) as site:
        assert wrongly_answered_without_password(site) == []
        assert console.done == []
        assert site.send(Target("/console/", "GET"), {}).status == 200
        assert site.send(SEEDS, {}, site.sessions.form_token(None)).status == 303
    assert [kind for kind, _, _ in console.done] == ["local"]


@pytest.mark.parametrize(
    ("serve", "is_public"),
    [
        (Serving(), True),
        (Serving(public_address="https://search.example"), False),
        (Serving(trusted_proxies=["10.0.0.0/8"]), False),
    ],
)
def test_a_site_that_others_can_reach_needs_a_password(serve: Serving, *, is_public: bool) -> None:
    with guarded(StandIn(), NO_CREDENTIALS, serve, is_public=is_public) as site:
        answer = site.send(Target("/console/", "GET"), {})
        assert answer.status == 403
        assert "periplus password" in answer.page.select(".notice")[0].text
        assert site.send(Target("/console/login", "GET"), {}).status == 403


def test_a_token_is_accepted_where_there_is_no_password() -> None:
    overview = Target("/console/api/overview", "GET")
    known = Credentials(tokens={"backup": hash_token("other"), "test": hash_token(TOKEN)})
    with guarded(known=lambda: known, is_public=True) as site:
        answer = site.send(overview, {"Authorization": f"bearer {TOKEN}"})
        assert answer.json == {"visitor": "token", "name": "test"}
        assert site.send(overview, {}).status == 403
        refused = site.send(overview, {"Authorization": "Bearer nothing"})
        assert (refused.status, refused.json["status"]) == (401, 401)
        assert refused.headers["www-authenticate"].startswith("Bearer")


def test_the_password_of_a_proxy_is_not_a_token() -> None:
    with guarded() as site:
        cookie, _ = site.session()
        answer = site.send(Target("/console/", "GET"), {"Cookie": cookie, "Authorization": "Basic YTpi"})
        assert answer.status == 200


def test_the_rest_of_the_site_is_open() -> None:
    with guarded() as site:
        assert site.site.get("/nothing", {"Host": "search.example"}).status == 404
        assert site.site.get("/consoles").status == 404
        assert site.site.get("/console", {"Accept": "text/html"}).status == 303


def test_the_names_of_the_console_are_loopback_names_its_address_and_those_in_the_settings() -> None:
    serve = Serving(public_address="https://search.example:8443")
    settings = Console(hosts=["Crawl.Example.", "192.0.2.1"])
    with guarded(StandIn(), None, serve, settings) as site:
        answers = {
            host: site.send(Target("/console/login", "GET"), {"Host": host}).status
            for host in ("localhost:1", "[::1]", "search.example", "CRAWL.example:99", "192.0.2.1", "crawl.example.")
        }
        assert set(answers.values()) == {200}, answers
        for host in ("evil.example", "www.crawl.example", "192.0.2.2", "["):
            refused = site.send(Target("/console/login", "GET"), {"Host": host})
            assert refused.status == 403
            assert "console.hosts" in refused.text


def test_a_form_arrives_complete_at_its_handler() -> None:
    console = StandIn()
    with guarded(console) as site:
        cookie, form = site.session()
        body = f"seed={'a' * 200_000}&token={form}".encode()
        headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": site.site.base}
        assert site.site.get(SEEDS.path, headers, "POST", body).status == 303
        assert console.done == [("session", "POST /console/seeds", body)]
        assert site.site.get(SEEDS.path, headers, "POST", b"seed=" + (1 << 20) * b"a").status == 413
        assert len(console.done) == 1


def test_behind_a_proxy_with_https_older_browsers_name_the_public_origin() -> None:
    console, serve = StandIn(), Serving(public_address="https://search.example", trusted_proxies=["127.0.0.1/32"])
    with guarded(console, None, serve) as site:
        cookie, form = site.session()
        proxied = {"Cookie": cookie, "Host": "search.example", "X-Forwarded-For": "192.0.2.7", "Sec-Fetch-Site": ""}
        assert site.send(SEEDS, {**proxied, "Origin": "https://search.example"}, form).status == 303
        assert site.send(SEEDS, {**proxied, "Origin": "https://other.example"}, form).status == 403
    assert len(console.done) == 1


def test_a_person_whose_session_has_ended_can_log_in_and_loses_nothing_silently() -> None:
    with guarded() as site:
        answer = site.send(SEEDS, {}, "old")
        assert answer.status == 401
        assert "nothing was changed" in answer.page.select("[role=alert]")[0].text
        assert answer.page.select("input[type=password]")


def test_a_changed_password_and_a_removed_token_count_at_once() -> None:
    current = [credentials()]
    with guarded(known=lambda: current[0]) as site:
        cookie, _ = site.session()
        overview = Target("/console/api/overview", "GET")
        ways = ({"Cookie": cookie}, {"Authorization": f"Bearer {TOKEN}"})
        assert [site.send(overview, way).status for way in ways] == [200, 200]
        current[0] = Credentials(credentials().password.replace("p=3", "p=2"))
        assert [site.send(overview, way).status for way in ways] == [401, 401]


def test_the_password_is_in_no_answer() -> None:
    with guarded() as site:
        for target in site.reading:
            assert PASSWORD not in site.send(target, {"Cookie": site.session()[0]}).text
