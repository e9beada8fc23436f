"""Do calendars, session numbers and faceted lists cost few requests, without losing a good page?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crawl.crawling import Outcome, catalog_of, environment, reach, run_crawl, settings_for, sound, state_of, typed
from periplus.crawl.assignment import Budget
from periplus.crawl.run import Request, crawl
from periplus.model import UrlState
from testweb import Page, Site, TestWeb, mesh, prose
from testweb.references import function_reference, measurements, numbered_forum, product_shop, short_pages
from testweb.traps import Trap, event_calendar, faceted_shop, visit_maze

SEED = "http://a.test/"
UNGUARDED = 5_000  # pages at most


def visited(trap: Trap, home: Path, *, learning: int, pages: int = UNGUARDED) -> list[str]:
    """The paths that a crawl fetches."""
    with TestWeb([trap.site]) as web:
        run_crawl(
            web,
            home,
            SEED,
            budget=Budget(pages=pages),
            frontier__trap_fetches=learning,
            scope__depth=1_000,
            fetch__concurrency=1,
        )
        return [path for path in web.log.paths("a.test") if path != "/robots.txt"]


TRAPS = pytest.mark.parametrize("make", [event_calendar, visit_maze, faceted_shop])


def wasted(trap: Trap, home: Path) -> int:
    """The useless requests of a crawl with trap detection; it must find all good pages."""
    guarded = visited(trap, home, learning=20)
    assert trap.found(guarded) == trap.good
    sound(home)
    return len(guarded) - len(trap.good)


@pytest.mark.slow
@TRAPS
def test_a_trap_without_an_end_costs_few_pages_and_no_good_page_is_lost(
    make: Callable[[str], Trap], tmp_path: Path
) -> None:
    trap, some = make("a.test"), 500
    unguarded = visited(trap, tmp_path / "unguarded", learning=0, pages=some)
    assert len(unguarded) >= some, "only the budget ends it"
    # A twentieth in a quiet process; on a busy machine more URLs are queued before a page is judged.
    assert wasted(trap, tmp_path / "guarded") <= 0.06 * (UNGUARDED - len(trap.good))


@pytest.mark.long
@TRAPS
def test_a_trap_costs_a_twentieth_of_what_it_would(make: Callable[[str], Trap], tmp_path: Path) -> None:
    trap = make("a.test")
    unguarded = visited(trap, tmp_path / "unguarded", learning=0)
    assert len(unguarded) > 0.8 * UNGUARDED
    assert wasted(trap, tmp_path / "guarded") <= 0.05 * (len(unguarded) - len(trap.found(unguarded)))


# -- finite sites whose pages are alike -------------------------------------------------------------------------------


def lost(site: Site, home: Path) -> set[str]:
    """The pages of a site that a crawl does not fetch."""
    with TestWeb([site]) as web:
        run_crawl(web, home, SEED, frontier__trap_fetches=20, scope__depth=10_000, scope__pages_per_domain=20_000)
        asked = set(web.log.paths("a.test"))
    sound(home)
    return set(site.pages) - asked


@pytest.mark.slow
@pytest.mark.parametrize(
    "site",
    [
        pytest.param(lambda: function_reference("a.test"), id="1,000 functions"),
        pytest.param(lambda: numbered_forum("a.test"), id="1,000 threads"),
        pytest.param(lambda: product_shop("a.test", 1_000), id="1,000 products"),
        pytest.param(lambda: product_shop("a.test", 5_000), id="5,000 products", marks=pytest.mark.long),
        pytest.param(lambda: short_pages("a.test", 60), id="60 short pages"),
        pytest.param(lambda: short_pages("a.test", 800), id="800 short pages"),
        pytest.param(lambda: measurements("a.test", 400), id="400 pages of numbers"),
    ],
)
def test_a_finite_site_whose_pages_are_alike_loses_no_page(site: Callable[[], Site], tmp_path: Path) -> None:
    assert lost(site(), tmp_path) == set()


def test_pages_with_new_text_are_never_taken_for_a_trap(tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 400)]) as web:
        result = run_crawl(web, tmp_path, SEED, frontier__trap_fetches=20)
    assert (result.summary["fetched"], result.summary["traps"]) == (400, {"learned": 0, "saved": 0})
    with catalog_of(tmp_path) as catalog:
        assert catalog.patterns() == []


def test_a_trap_is_detected_even_on_a_trusted_host(tmp_path: Path) -> None:
    """Hundreds of articles, each of which also leads to the same empty form under another number."""
    articles = {
        f"/article/{name}": Page(prose.title(name), prose.text(name), [f"/article/{after}", f"/reply/{number}"])
        for number, (name, after) in enumerate(zip(map(_word, range(400)), map(_word, range(1, 401)), strict=True))
    }
    forms = {f"/reply/{number}": Page("Reply", "Log in to reply.") for number in range(400)}
    home = {"/": Page("Home", prose.text("home"), ["/article/a"])}
    with TestWeb([Site("a.test", home | articles | forms)]) as web:
        run_crawl(web, tmp_path, SEED, frontier__trap_fetches=20, scope__depth=1_000, fetch__concurrency=1)
        asked = set(web.log.paths("a.test"))
    assert articles.keys() <= asked
    assert len(forms.keys() & asked) < 100, "20 to learn, 50 of the allowance, and probes"
    sound(tmp_path)


def _word(number: int) -> str:
    """Names without digits, so that every article is a pattern of its folder only."""
    return chr(ord("a") + number % 26) * (1 + number // 26)


# -- reports ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of the calendar."""
    home = tmp_path_factory.mktemp("trapped") / "home"
    visited(event_calendar("a.test"), home, learning=20)
    return home


def output(*words: str, home: Path, learning: int = 20) -> str:
    env = environment(frontier__trap_fetches=learning)
    return " ".join(typed(*words, "--home", home, env=env).out.split())


def test_inspect_host_shows_the_skipped_urls_of_each_pattern(home: Path) -> None:
    text = output("inspect", "host", "a.test", home=home)
    with catalog_of(home) as catalog:
        days, _ = catalog.patterns_of("a.test")
    assert (
        f"URLs skipped by 2 learned patterns /calendar/#/#/# (nothing new on {days.wasted} of {days.fetched} pages"
        in text
    )
    assert f"pages, {days.saved} URLs skipped)" in text


def test_a_refused_url_names_its_pattern_whether_it_waited_or_not(home: Path) -> None:
    with catalog_of(home) as catalog:
        rows = [row for url in catalog.known_urls() if (row := catalog.url(url))]
    waited = next(row["url"] for row in rows if row["reason"] == "trap_learned" and row["url"].count("/") == 6)
    for url in (waited, f"{SEED}calendar/1807/03/09"):
        assert "trap_learned (" in output("inspect", "url", url, home=home)
        assert "pages like /calendar/#/#/# said nothing new" in output("inspect", "url", url, home=home)


def test_the_summary_of_a_run_counts_skipped_urls(tmp_path: Path) -> None:
    env = environment(frontier__trap_fetches=20)
    with TestWeb([event_calendar("a.test").site]) as web:
        outcome = typed("crawl", SEED, "--home", tmp_path, *reach(web), env=env)
    assert "look-alike URLs (2 patterns learned in this run; listed by `periplus traps`)" in outcome.out


# -- what lasts, and what is undone -----------------------------------------------------------------------------------


def test_the_next_run_knows_the_traps_of_the_last(tmp_path: Path) -> None:
    trap = event_calendar("a.test")
    visited(trap, tmp_path, learning=20, pages=100)
    with catalog_of(tmp_path) as catalog:
        assert any(pattern.score >= 20 for pattern in catalog.patterns())
    rest = visited(trap, tmp_path, learning=20)
    assert len(rest) < 0.05 * UNGUARDED
    sound(tmp_path)


def test_a_wrong_verdict_is_undone_and_the_urls_that_it_refused_are_queued_again(tmp_path: Path) -> None:
    """Sixty empty days, then many full ones, all linked from a page that says nothing."""
    full = {f"/day/{number}": Page(f"Day {number}", prose.text(f"day {number}")) for number in range(60, 200)}
    days = {f"/day/{number}": Page("Day", "") for number in range(60)} | full
    pages = {"/": Page("Home", "", links=["/days"]), "/days": Page("Days", "", links=list(days)), **days}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, SEED, frontier__trap_fetches=10, frontier__trap_allowance=0)
        asked = web.log.paths("a.test")
    assert full.keys() <= set(asked)
    assert asked.index("/day/75") > asked.index("/day/199"), "it came back"
    assert state_of(tmp_path, f"{SEED}day/75") == (UrlState.DONE, "ok")
    sound(tmp_path)


@pytest.mark.slow
def test_every_worker_detects_traps_on_its_own_hosts(tmp_path: Path) -> None:
    hosts = [f"h{number}.test" for number in range(6)]
    traps = [event_calendar(host) for host in hosts]
    with TestWeb([trap.site for trap in traps]) as web:
        settings = settings_for(web, frontier__trap_fetches=20)
        crawl(Request(tmp_path, settings, [f"http://{host}/" for host in hosts], workers=2))
        for host, trap in zip(hosts, traps, strict=True):
            assert trap.found(web.log.paths(host)) == trap.good
            assert len(web.log.paths(host)) < 350
    sound(tmp_path)


# -- what a person can do about it ------------------------------------------------------------------------------------


@pytest.fixture
def web() -> Iterator[TestWeb]:
    with TestWeb([event_calendar("a.test").site]) as running:
        yield running


def crawled(web: TestWeb, home: Path, *words: str) -> Outcome:
    return typed("crawl", SEED, "--home", home, "--pages", "600", *words, *reach(web), env=environment(**LEARNING))


LEARNING = {"frontier__trap_fetches": 10, "frontier__trap_allowance": 5}


def test_suspected_traps_are_listed(web: TestWeb, tmp_path: Path) -> None:
    crawled(web, tmp_path)
    with catalog_of(tmp_path) as catalog:
        days = next(one for one in catalog.patterns_of("a.test") if one.pattern == "/calendar/#/#/#")
    listed = output("traps", home=tmp_path, learning=10)
    assert f"a.test /calendar/#/#/# {days.fetched} {days.wasted} {days.saved}" in listed
    assert output("traps", "b.test", home=tmp_path, learning=10) == "No URL pattern is a suspected trap."
    found = typed("traps", "a.test", "--home", tmp_path, "--json", env=environment(**LEARNING)).json["traps"]
    assert {"host": "a.test", "pattern": days.pattern, "fetched": days.fetched, "wasted": days.wasted} == {
        key: value for key, value in found[0].items() if key != "refused"
    }


def test_a_trap_that_is_unlearned_is_crawled_and_not_learned_again(web: TestWeb, tmp_path: Path) -> None:
    crawled(web, tmp_path)
    with catalog_of(tmp_path) as catalog:
        refused = catalog.counters()["refused"]
    said = output("traps", "a.test", "--unlearn", home=tmp_path, learning=10)
    assert said.startswith("Unlearned /calendar/#/#/#, /calendar/#/# of a.test; queued ")
    sound(tmp_path)
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters()["refused"] == 0 < refused
    assert crawled(web, tmp_path).code == 0
    with catalog_of(tmp_path) as catalog:
        assert catalog.counters()["fetched"] > 500
    assert output("traps", home=tmp_path, learning=10) == "No URL pattern is a suspected trap."
    sound(tmp_path)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--unlearn"], "--unlearn requires a host"),
        (["a.test", "--unlearn"], "a.test has no suspected trap"),
        (["a.test", "--unlearn", "--pattern", "/x/#"], "the pattern /x/# of a.test is not a suspected trap"),
        (["a.test", "--pattern", "/x/#"], "--pattern requires --unlearn"),
    ],
)
def test_unlearning_an_unknown_trap_is_an_error(words: list[str], complaint: str, tmp_path: Path) -> None:
    with TestWeb([mesh("a.test", 3)]) as web:
        run_crawl(web, tmp_path, SEED)
    outcome = typed("traps", *words, "--home", tmp_path)
    assert outcome.code == 2
    assert complaint in outcome.complaint


def test_a_crawl_without_traps_fetches_what_they_refused(web: TestWeb, tmp_path: Path) -> None:
    crawled(web, tmp_path)
    with catalog_of(tmp_path) as catalog:
        refused = [url for url in catalog.known_urls() if (catalog.url(url) or {})["reason"] == "trap_learned"]
    assert len(refused) > 20
    before = len(web.log.paths("a.test"))
    assert crawled(web, tmp_path, "--no-traps").code == 0
    asked = {f"http://a.test{path}" for path in web.log.paths("a.test")[before:]}
    assert len(asked & set(refused)) > 100
    with catalog_of(tmp_path) as catalog:
        assert "trap_learned" not in {(catalog.url(url) or {})["reason"] for url in refused}, "the others wait"
    sound(tmp_path)


def test_a_deferred_url_has_a_reason(tmp_path: Path) -> None:
    """A page budget ends the crawl before suspected traps have their turn."""
    trap = event_calendar("a.test")
    visited(trap, tmp_path, learning=5, pages=40)
    with catalog_of(tmp_path) as catalog:
        waiting = [row for url in catalog.known_urls() if (row := catalog.url(url)) and row["state"] == 0]
    deferred = [row for row in waiting if row["reason"] == "trap_suspected"]
    assert deferred
    text = output("inspect", "url", deferred[0]["url"], home=tmp_path, learning=10)
    assert "state queued reason trap_suspected (" in text
    assert "pages like /calendar/#/#/# said nothing new" in text
