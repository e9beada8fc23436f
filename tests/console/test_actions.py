"""The owner directs the crawl by forms and by the API, and is asked before anything is destroyed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from console.filled import NODE, SEED, SETTINGS, TRAP, Filling, fill, showing, token_of
from periplus.console.routes import ACTIONS
from periplus.site.access.credentials import Credentials
from periplus.site.access.tokens import hash_token
from periplus.store.catalog.catalog import Catalog
from periplus.store.catalog.listings import Listings
from periplus.store.catalog.live_state import Command, LiveState
from periplus.store.database.sqlite_database import SqliteDatabase
from web.owning import send
from web.serving import Answer, Site

TOKEN = {"Authorization": "Bearer t", "Content-Type": "application/x-www-form-urlencoded"}
NEW = "https://new.example.org/"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    fill(tmp_path / "home", Filling(hosts=4))
    return tmp_path / "home"


@pytest.fixture
def site(home: Path) -> Iterator[Site]:
    with showing(home, credentials=Credentials("", {"test": hash_token("t")})) as served:
        yield served


def do(site: Site, name: str, **fields: str) -> Answer:
    """Sends a form as the owner's browser does."""
    return send(site, f"/console/do/{name}", {"token": token_of(site), "back": "/console/hosts?order=name", **fields})


def order(site: Site, name: str, **fields: str) -> Answer:
    """Sends an order as a program does."""
    return send(site, f"/console/api/{name}", fields, TOKEN | {"Sec-Fetch-Site": "", "Accept": ""})


def notice(site: Site, answer: Answer) -> str:
    """The sentence on the page after a form."""
    assert answer.status == 303, answer.text
    (found,) = site.get(answer.headers["location"]).page.select(".hint[role=status]")
    return str(found.text)


def commands(home: Path) -> list[Command]:
    with closing(LiveState(SqliteDatabase(home / "crawl.db", read_only=True))) as live:
        return live.newest_commands(3)


@pytest.mark.parametrize("name", ["pause", "resume", "drain", "stop"])
def test_a_crawl_is_paused_resumed_and_ended_on_one_node_or_all(site: Site, home: Path, name: str) -> None:
    assert "on alexandria." in notice(site, do(site, name, node=NODE, confirmed="1"))
    assert order(site, name).json["node"] == ""
    newest, before = commands(home)[:2]
    assert (newest.action, newest.node, newest.origin) == (name, "", "api")
    assert (before.action, before.node, before.origin) == (name, NODE, "console")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("drain", {"node": NODE}),
        ("stop", {}),
        ("block", {"host": "docs.example.org"}),
        ("unseed", {"url": SEED}),
        ("rollback", {"kind": "index", "generation": "1"}),
    ],
)
def test_the_console_asks_before_it_destroys_anything(
    site: Site, home: Path, name: str, fields: Mapping[str, str]
) -> None:
    before = commands(home)
    answer = do(site, name, **fields)
    assert answer.status == 200
    (question,) = answer.page.select("main p")
    assert str(question.text).count("?") == 1
    sent = {str(field.attrs["name"]): str(field.attrs["value"]) for field in answer.page.select("main input")}
    assert sent.items() >= {**fields, "confirmed": "1", "back": "/console/hosts?order=name"}.items()
    assert answer.page.select("main form a")[0].attrs["href"] == "/console/hosts?order=name"
    assert commands(home) == before


def test_seeds_are_added_and_taken_back(site: Site, home: Path) -> None:
    said = notice(site, do(site, "seed", urls=f"{NEW}\nhttps://other.example/", sitemaps=""))
    assert said.startswith("1 URL added; refused: https://other.example/")
    rows = site.get("/console/api/seeds").json["seeds"]
    assert rows[0]["url"] == NEW
    assert "is no seed any more" in notice(site, do(site, "unseed", url=NEW, confirmed="1"))
    assert NEW not in [row["url"] for row in site.get("/console/api/seeds").json["seeds"]]
    found = order(site, "seed", urls=NEW).json["outcomes"]
    assert found == [{"url": NEW, "admitted": True, "is_known": False, "reason": "", "detail": ""}]
    assert commands(home)[0].arguments["urls"] == [NEW]


@pytest.mark.parametrize("text", ["", "  \n ", "not a url"])
def test_what_is_no_seed_is_a_sentence(site: Site, text: str) -> None:
    assert do(site, "seed", urls=text).status == 400


def test_a_host_is_blocked_and_unblocked(site: Site) -> None:
    said = notice(site, do(site, "block", host="h003.example.org", confirmed="1"))
    assert said == "h003.example.org is blocked; 19 queued URLs refused."
    row = site.get("/console/api/host", host="h003.example.org").json
    assert (row["next"]["cause"], row["urls"]["queued"]) == ("blocked", 0)
    assert order(site, "unblock", host="h003.example.org").json["queued"] == 19
    assert do(site, "unblock", host="h003.example.org").status == 400


def test_failed_urls_are_tried_again(site: Site, home: Path) -> None:
    assert notice(site, do(site, "retry", host="docs.example.org")) == "Queued 4 URLs of docs.example.org again."
    assert notice(site, do(site, "recrawl", url=SEED)) == f"{SEED} is queued."
    assert notice(site, do(site, "recrawl", url=SEED)) == f"{SEED} was queued already."
    with closing(Catalog(SqliteDatabase(home / "crawl.db"))) as catalog:
        assert catalog.miscounted_hosts() == []
        assert catalog.counters() == catalog.recount()


def test_a_trap_is_unlearned_and_its_urls_are_queued(site: Site) -> None:
    said = notice(site, do(site, "unlearn", host="docs.example.org", pattern=TRAP))
    assert said == f"{TRAP} of docs.example.org is never suspected again; 1 URL queued again."
    assert site.get("/console/api/traps").json["traps"] == []


def test_a_domain_gets_another_limit_and_the_file_keeps_its_comments(site: Site, home: Path) -> None:
    assert "example.org may have 25,000 URLs" in notice(site, do(site, "cap", host="docs.example.org", pages="25,000"))
    assert (home / "periplus.toml").read_text() == SETTINGS + '\n[scope.domain_pages]\n"example.org" = 25000\n'
    assert site.get("/console/api/host", host="docs.example.org").json["cap"]["urls_allowed"] == 25_000
    assert do(site, "cap", host="docs.example.org", pages="many").status == 400


# -- the scope --------------------------------------------------------------------------------------------------------


def test_another_scope_is_tried_before_it_is_written(site: Site, home: Path) -> None:
    answer = do(site, "scope", hosts="docs[.]example[.]org", paths="", depth="12")
    assert answer.status == 200
    assert (home / "periplus.toml").read_text() == SETTINGS
    text = " ".join(str(answer.page.select("main")[0].text).split())
    assert '- hosts = ["(.+[.])?example[.]org"] # ours' in text
    assert '+ hosts = ["docs[.]example[.]org"] # ours' in text
    assert "40 URLs of 4 hosts would be refused by their host: h003.example.org (19)" in text
    sent = {str(field.attrs["name"]): str(field.attrs["value"]) for field in answer.page.select("main input")}
    said = notice(site, send(site, "/console/do/scope", sent))
    assert said == "periplus.toml has the new scope. A running crawl uses it from its next start on."
    assert (home / "periplus.toml").read_text() == SETTINGS.replace("(.+[.])?example", "docs[.]example")


def test_a_program_gets_the_dry_run_and_then_writes(site: Site, home: Path) -> None:
    found = order(site, "scope", paths="guide", depth="3").json
    assert found["changes"] == {"paths": ["guide"], "depth": 3}
    assert found["queue"]["refused"]["scope_path"] == 40
    assert order(site, "scope", depth="3", confirmed="1").json["changes"] == {"depth": 3}
    assert "depth = 3\n" in (home / "periplus.toml").read_text()
    assert order(site, "scope", depth="3").json["lines"] == []
    assert order(site, "scope", depth="3", confirmed="1").json["changes"] == {}


@pytest.mark.parametrize("fields", [{"hosts": "("}, {"depth": "deep"}, {"path_repeats": "1"}])
def test_a_scope_that_is_not_valid_is_never_written(site: Site, home: Path, fields: Mapping[str, str]) -> None:
    assert do(site, "scope", **fields).status == 400
    assert do(site, "scope", confirmed="1", **fields).status == 400
    assert (home / "periplus.toml").read_text() == SETTINGS


# -- safety -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("action", [action.name for action in ACTIONS])
def test_no_action_without_the_token_of_a_form(site: Site, home: Path, action: str) -> None:
    before = commands(home)
    fields = {"host": "docs.example.org", "url": SEED, "urls": NEW, "confirmed": "1", "pages": "5", "depth": "2"}
    assert send(site, f"/console/do/{action}", fields).status == 403
    assert send(site, f"/console/api/{action}", fields).status == 403
    assert site.get(f"/console/do/{action}").status == 405
    assert commands(home) == before
    assert (home / "periplus.toml").read_text() == SETTINGS


def test_a_program_uses_the_api_and_not_the_forms(site: Site, home: Path) -> None:
    before = commands(home)
    answer = send(site, "/console/do/pause", {}, TOKEN | {"Sec-Fetch-Site": ""})
    assert answer.status == 403
    assert commands(home) == before
    assert site.get("/console/hosts?said=x&seal=", TOKEN).page.select(".hint[role=status]") == []


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example/console/", "/console/\\evil", "/search", ""])
def test_a_form_returns_to_a_page_of_the_console_only(site: Site, back: str) -> None:
    assert do(site, "pause", back=back).headers["location"].startswith("/console/?said=")


def test_only_this_site_can_put_a_sentence_on_a_page(site: Site) -> None:
    forged = site.get("/console/hosts", said="Send your password to evil.example", seal="0" * 32)
    assert forged.page.select(".hint[role=status]") == []


def test_a_sentence_shows_once_after_several_forms(site: Site) -> None:
    first = do(site, "pause", back="/console/hosts?order=name")
    again = do(site, "resume", back=first.headers["location"])
    assert again.headers["location"].count("said=") == 1
    assert "order=name" in again.headers["location"]


def test_a_missing_field_is_a_sentence(site: Site) -> None:
    for name in ("block", "unblock", "unseed", "retry", "recrawl", "cap", "unlearn", "rollback"):
        assert order(site, name, confirmed="1").status == 400, name
        assert do(site, name, confirmed="1").status == 400, name


def test_an_unknown_generation_is_a_sentence(site: Site) -> None:
    for fields in ({"kind": "odd", "generation": "1"}, {"kind": "index", "generation": "x"}):
        assert order(site, "rollback", **fields).status == 400


def test_blocked_hosts_are_listed(site: Site, home: Path) -> None:
    order(site, "block", host="h001.example.org")
    with closing(Listings(SqliteDatabase(home / "crawl.db", read_only=True))) as listings:
        assert listings.blocked_since("h001.example.org") is not None
    assert [row["host"] for row in site.get("/console/api/hosts", only="blocked").json["hosts"]] == ["h001.example.org"]
