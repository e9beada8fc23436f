"""Every view shows what the collection has, as a page and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from console.filled import ALERTS, NODE, SEED, TRAP, Filling, fill, showing, token_of
from periplus.console.routes import ACTIONS, PAGES
from periplus.site.access.credentials import Credentials
from periplus.site.access.tokens import hash_token
from periplus.store.collection import create_collection
from web.serving import Site

PATHS = [
    "/console/",
    "/console/?span=7d",
    "/console/workers",
    "/console/commands",
    "/console/hosts",
    "/console/hosts?order=name&only=waiting&contains=h00",
    "/console/host?host=docs.example.org",
    "/console/host?host=nowhere.example",
    f"/console/url?url={SEED}guide/5.html",
    f"/console/url?url={SEED}unknown",
    "/console/inspect",
    f"/console/inspect?what={SEED}guide/1.html",
    "/console/inspect?what=other.example",
    "/console/errors",
    "/console/errors?reason=http_error&status=404",
    "/console/refusals",
    "/console/refusals?reason=robots",
    "/console/seeds",
    "/console/scope",
    "/console/robots",
    f"/console/robots?url={SEED}private/x&agent=other",
    "/console/traps",
    "/console/traps?host=docs.example.org",
    "/console/runs",
    "/console/runs?runs=1,2",
    "/console/generations",
    "/console/settings",
    "/console/settings?only=changed",
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("console") / "home"
    fill(home)
    with showing(home, ALERTS) as served:
        yield served


def as_json(site: Site, path: str) -> Any:
    """The same view from the API."""
    return site.get(
        path.replace("/console/", "/console/api/overview" if path == "/console/" else "/console/api/", 1)
    ).json


def text_of(site: Site, path: str) -> str:
    main = site.get(path).text.partition("<main")[2].partition("</main>")[0]
    return " ".join(unescape(re.sub("<[^>]*>", " ", main)).split()).replace(" .", ".").replace(" ,", ",")


@pytest.mark.parametrize("path", PATHS)
def test_every_view_is_a_page_that_nobody_stores(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 200
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-robots-tag"] == "noindex, nofollow"
    assert len(answer.page.select("h1")) == 1


def test_every_view_has_the_address_of_its_data(site: Site) -> None:
    for path in PATHS:
        (link,) = [a.attrs["href"] for a in site.get(path).page.select("footer a") if "JSON" in str(a.text)]
        assert site.get(str(link)).status == 200, path


def test_the_console_has_one_address(site: Site) -> None:
    assert (site.get("/console").status, site.get("/console").headers["location"]) == (308, "/console/")


def test_a_collection_without_anything_has_all_views(tmp_path: Path) -> None:
    home = tmp_path / "empty"
    fill(home, Filling(hosts=0, is_running=False))
    with showing(home) as served:
        for page in PAGES:
            query = {"host": "?host=a.example", "url": f"?url={SEED}"}.get(page.name, "")
            assert served.get(f"/console/{page.name}{query}").status == 200, page.name
        assert as_json(served, "/console/")["crawl"] == "stopped"


def test_a_folder_without_a_catalog_is_said_to_be_unreadable(tmp_path: Path) -> None:
    create_collection(tmp_path / "home")
    with showing(tmp_path / "home") as served:
        assert served.get("/console/").status == 503


@pytest.mark.parametrize(
    "path",
    [
        "/console/?span=2y", "/console/hosts?order=size", "/console/hosts?only=odd", "/console/hosts?after=x:y",
        "/console/errors?reason=dns&before=x", "/console/url", "/console/url?url=ftp://a.example/",
        "/console/url?url=" + 5_000 * "x", "/console/robots?url=https://a.example/&agent=" + 101 * "x",
    ],
)  # fmt: skip
def test_a_mistake_in_an_address_is_a_sentence(site: Site, path: str) -> None:
    answer = site.get(path)
    assert answer.status == 400
    assert answer.page.select("h1")[0].text == "Bad request"
    assert site.get(path.replace("/console/", "/console/api/", 1)).status in (400, 404)


# -- what the views say ---------------------------------------------------------------------------------------------


def test_the_overview_has_states_figures_charts_and_alerts(site: Site) -> None:
    text = text_of(site, "/console/")
    assert "Crawl running, 2 workers" in text
    assert "Freshness is 70 s. Lower fetch.concurrency, or wait." in text
    assert "1 command pending" in text
    found = as_json(site, "/console/")
    assert found["urls"]["failed"] == 4
    assert [chart["name"] for chart in found["series"]["charts"]] == [
        "pages",
        "bytes",
        "queue",
        "errors",
        "types",
        "freshness",
    ]
    assert len(found["series"]["at"]) > 30
    lines = site.get("/console/").page.select("figure polyline")
    assert len(lines) == 8
    assert all(line.attrs["points"] for line in lines)


def test_workers_show_their_urls_with_the_slowest_step_first(site: Site) -> None:
    (node,) = as_json(site, "/console/workers")["nodes"]
    assert node["node"] == NODE
    assert [one["state"] for one in node["processes"]] == ["running", "running", "running", "silent"]
    order = [(visit["step"] in ("delay", "store"), -visit["seconds"]) for visit in node["visits"]]
    assert order == sorted(order)
    assert "https://h009.example.org/api/9 1 connect 3.2" in text_of(site, "/console/workers")


def test_hosts_say_when_and_why(site: Site) -> None:
    rows = {row["host"]: row for row in as_json(site, "/console/hosts?order=next")["hosts"]}
    causes = {name: rows[f"{name}.example.org"]["next"]["cause"] for name in ("docs", "h001", "h002", "h003")}
    assert causes == {"docs": "crawl-delay", "h001": "429", "h002": "retry-after", "h003": "parked"}
    assert "Crawl-delay in robots.txt (5 s between requests)." in text_of(site, "/console/hosts?order=next")


def test_pages_of_hosts_follow_each_other(site: Site) -> None:
    path, seen = "/console/hosts?order=queued", []
    for _ in range(5):
        page = site.get(path).page
        seen += [str(link.text) for link in page.select("tbody th a")]
        following = page.select(".more a")
        if not following:
            break
        path = str(following[0].attrs["href"])
    assert len(seen) == len(set(seen)) == 62


def test_a_host_has_its_limits_errors_and_traps(site: Site) -> None:
    text = text_of(site, "/console/host?host=docs.example.org")
    assert "http_error 2" in text
    assert TRAP in text
    assert "Crawl-delay 5 s" in text
    assert "No URL of this host was admitted." in text_of(site, "/console/host?host=nowhere.example")


def test_a_url_has_its_attempts_and_its_verdict(site: Site) -> None:
    found = as_json(site, f"/console/url?url={SEED}guide/5.html")
    assert (found["verdict"]["code"], len(found["fetches"])) == ("error", 1)
    assert "Not fetched after 1 attempt: The server answered with HTTP status 404." in text_of(
        site, f"/console/url?url={SEED}guide/5.html"
    )


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (f"{SEED}guide/1.html", "duplicate"),
        (f"{SEED}guide/9.html", "robots"),
        (f"{SEED}guide/10.html", "queued"),
        (f"{SEED}guide/99.html", "never_seen"),
        (f"{SEED}private/1", "robots"),
        (f"{SEED}calendar?day=77", "trap"),
        (SEED, "not_indexed"),
        ("https://other.example/a", "refused"),
        ("other.example/a", "refused"),
        ("other.example", "refused"),
        ("docs.example.org", "known"),
        ("new.example.org", "never_seen"),
    ],
)
def test_the_inspector_answers_for_anything_a_user_types(site: Site, what: str, code: str) -> None:
    assert site.get("/console/api/inspect", what=what).json["verdict"]["code"] == code
    assert len(site.get("/console/inspect", what=what).page.select(".verdict")) == 1


def test_errors_are_grouped_with_samples(site: Site) -> None:
    groups = {(one["reason"], one["status"]): one for one in as_json(site, "/console/errors")["groups"]}
    assert groups.keys() == {("http_error", "404"), ("http_error", "503"), ("timeout", ""), ("dns", "")}
    assert groups["dns", ""]["samples"][0]["url"] == f"{SEED}guide/8.html"
    assert groups["dns", ""]["remedy"].startswith("Check the spelling")
    found = as_json(site, "/console/errors?reason=http_error&status=503")
    assert [row["url"] for row in found["urls"]] == [f"{SEED}guide/7.html"]


def test_refusals_have_links_and_urls(site: Site) -> None:
    found = as_json(site, "/console/refusals")
    assert {one["reason"]: one["count"] for one in found["links"]} == {"scope_host": 5_120, "extension": 88}
    assert {one["reason"]: one["count"] for one in found["groups"]} == {"robots": 1, "trap_learned": 1}


def test_the_scope_can_be_proposed_by_a_link(site: Site) -> None:
    page = site.get("/console/scope", add_hosts="other[.]example").page
    assert str(page.select("textarea[name=hosts]")[0].text).split() == ["(.+[.])?example[.]org", "other[.]example"]


def test_runs_are_compared_step_by_step(site: Site) -> None:
    found = as_json(site, "/console/runs?runs=1,2")
    assert found["compared"] == [2, 1]
    delay = next(step for step in found["steps"] if step["step"] == "delay")
    assert delay["shares"][0] < delay["shares"][1]


def test_settings_have_their_origin_and_no_secrets(site: Site) -> None:
    found = {row["setting"]: row for row in as_json(site, "/console/settings")["settings"]}
    assert (found["scope.depth"]["value"], found["scope.depth"]["origin"]) == (12, "periplus.toml")
    assert found["console.password"]["value"] == ""
    assert found["fetch.timeout"]["origin"] == "default"
    changed = as_json(site, "/console/settings?only=changed")["settings"]
    assert [row["setting"] for row in changed] == ["scope.hosts", "scope.depth", "politeness.delay"]


def test_commands_say_whether_they_are_done(site: Site) -> None:
    found = as_json(site, "/console/commands")["commands"]
    assert [(one["action"], one["state"]) for one in found] == [
        ("seed add", "pending"),
        ("resume", "done"),
        ("pause", "done"),
    ]


# -- who may see them -----------------------------------------------------------------------------------------------


def test_a_console_with_a_password_shows_nothing_before_the_login(tmp_path: Path) -> None:
    fill(tmp_path / "home", Filling(hosts=1))
    with showing(tmp_path / "home", credentials=Credentials("$scrypt$x", {"test": hash_token("t")})) as served:
        for page in PAGES:
            assert served.get(f"/console/{page.name}").status in (303, 401)
            assert served.get(f"/console/api/{page.name or 'overview'}").status == 401
        for action in ACTIONS:
            assert served.get(f"/console/api/{action.name}", method="POST").status == 401
        assert served.get("/console/events?view=overview").status == 401
        assert len(served.get("/console/login").page.select("input[type=password]")) == 1
        assert served.get("/console/api/overview", {"Authorization": "Bearer t"}).status == 200


def test_forms_have_the_token_of_the_visitor(site: Site) -> None:
    assert len(token_of(site)) >= 32
