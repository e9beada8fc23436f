"""Only the owner of the collection, on the machine of the site, can change something from the site."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Scope

from periplus.config import Serving
from periplus.site.front import CLIENT
from periplus.web.owner import Owner, OwnerFiles
from web.engines import HARBOUR, FakeEngine
from web.owning import owned, owner_files, send, token_of
from web.serving import Site, searching
from web.test_hostile import AT_ONCE, PAYLOADS, assert_harmless, poisoned

RIGHT = f"right {HARBOUR.url}"


@pytest.fixture
def files(tmp_path: Path) -> OwnerFiles:
    return owner_files(tmp_path)


@pytest.fixture
def site(files: OwnerFiles) -> Iterator[Site]:
    with owned(files) as served:
        yield served


def judge(site: Site, headers: dict[str, str] | None = None, **form: str) -> int:
    fields = {"token": token_of(site), "query": "harbour", "judged": RIGHT} | form
    return send(site, "/judge", fields, headers).status


def test_the_owner_can_send_a_form(site: Site, files: OwnerFiles) -> None:
    assert judge(site) == 303
    assert files.judgements.judged("harbour") == {HARBOUR.url: True}


def test_an_older_browser_names_its_origin(site: Site) -> None:
    assert judge(site, {"Sec-Fetch-Site": "", "Origin": site.base}) == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "cross-site", "Origin": "SELF"},
        {"Sec-Fetch-Site": ""},
        {"Sec-Fetch-Site": "", "Origin": "null"},
        {"Sec-Fetch-Site": "", "Origin": "http://evil.example"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "user@evil.example"},
        {"Host": "["},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-Host": "localhost"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Via": "1.1 proxy"},
    ],
)
def test_a_form_of_another_site_or_through_a_proxy_is_refused(
    site: Site, files: OwnerFiles, headers: dict[str, str]
) -> None:
    sent = {name: value.replace("SELF", site.base) for name, value in headers.items()}
    assert judge(site, sent) == 403
    assert not files.judgements.exist


@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_a_form_without_the_token_of_the_site_is_refused(site: Site, files: OwnerFiles, token: str) -> None:
    answer = send(site, "/judge", {"token": token, "query": "harbour", "judged": RIGHT})
    assert answer.status == 403
    assert "reload the page" in answer.page.select(".notice")[0].text
    assert not files.judgements.exist


@pytest.mark.parametrize("path", ["/judge", "/playground/save"])
def test_a_link_changes_nothing(site: Site, files: OwnerFiles, path: str) -> None:
    answer = site.get(path, {"Sec-Fetch-Site": "same-origin"}, token=token_of(site), query="harbour", judged=RIGHT)
    assert answer.status == 403
    assert "send its form" in answer.page.select(".notice")[0].text
    assert not files.judgements.exist


@pytest.mark.parametrize(
    ("settings", "is_public"),
    [
        (Serving(), True),
        (Serving(public_address="https://search.example"), False),
        (Serving(trusted_proxies=["10.0.0.0/8"]), False),
    ],
)
def test_a_site_that_others_can_reach_has_no_owner(files: OwnerFiles, settings: Serving, *, is_public: bool) -> None:
    with owned(files) as local:
        token = token_of(local)
    with owned(files, settings=settings, is_public=is_public) as site:
        assert not site.get("/search?q=harbour").page.select("button[name=judged], input[name=token]")
        answer = send(site, "/judge", {"token": token, "query": "harbour", "judged": RIGHT})
        assert answer.status == 403
        assert "Only the owner" in answer.page.select(".notice")[0].text


def test_a_site_without_files_of_an_owner_refuses() -> None:
    with searching(FakeEngine()) as site:
        assert send(site, "/judge", {"query": "harbour", "judged": RIGHT}).status == 403
        assert token_of(site) == ""


def test_readers_who_are_not_the_owner_see_no_forms(site: Site) -> None:
    assert site.get("/search?q=harbour").page.select("button[name=judged]")
    for headers in ({"Host": "evil.example"}, {"X-Forwarded-For": "1.2.3.4"}):
        assert not site.get("/search?q=harbour", headers).page.select("button[name=judged], input[name=token]")


@pytest.mark.parametrize("host", ["localhost:80", "LOCALHOST", "127.0.0.1", "127.9.9.9:1", "[::1]:8080"])
def test_all_names_of_this_machine_are_local(site: Site, host: str) -> None:
    assert site.get("/search?q=harbour", {"Host": host}).page.select("button[name=judged]")


def test_a_client_on_another_machine_is_not_the_owner(files: OwnerFiles) -> None:
    owner = Owner(files, Serving(), is_public=False)
    scope: Scope = {"type": "http", CLIENT: "127.0.0.1", "headers": [(b"host", b"localhost")]}
    assert owner.is_present(scope)
    assert not owner.is_present({**scope, CLIENT: "192.0.2.1"})
    assert not owner.is_present({**scope, CLIENT: "unix socket"})
    assert not owner.is_present({**scope, "headers": []})


def test_all_processes_of_a_site_accept_the_same_token(files: OwnerFiles) -> None:
    with owned(files) as first, owned(files) as second:
        assert send(second, "/judge", {"token": token_of(first), "query": "harbour", "judged": RIGHT}).status == 303


def test_stored_pages_show_the_owner_what_was_judged_and_nobody_else(files: OwnerFiles) -> None:
    engine = FakeEngine(fingerprint="1")
    with owned(files, engine, Serving(boxes=[])) as site:  # a page that waits for a box is not stored
        path, stranger = "/search?q=harbour", {"Host": "evil.example"}
        for _ in range(2):
            assert not site.get(path, stranger).page.select("[data-mark]")
            assert site.get(path).page.select("[data-mark]")[0].text == ""
        assert len(engine.asked) == 4, "two searches and their facets: each kind of page was computed once"
        known = {"If-None-Match": site.get(path).headers["etag"]}
        assert site.get(path, known).status == 304
        judge(site)
        answer = site.get(path, known)
        assert (answer.status, answer.page.select("[data-mark]")[0].text) == (200, "✓ Right")
        assert not site.get(path, stranger).page.select("[data-mark]")


def test_no_payload_becomes_markup_in_the_forms_of_the_owner(files: OwnerFiles) -> None:
    engine = FakeEngine()
    with owned(files, engine) as site:
        for start in range(0, len(PAYLOADS), AT_ONCE):
            engine.hits = [poisoned(payload) for payload in PAYLOADS[start : start + AT_ONCE]]
            page = site.get("/search", q=PAYLOADS[start], size=AT_ONCE).page
            assert_harmless(page)
            assert page.select("#judge input[name=query]")[0].attrs["value"] == " ".join(PAYLOADS[start].split())
            assert len(page.select("button[name=judged]")) == 2 * len(page.select("li.hit h2 a"))
