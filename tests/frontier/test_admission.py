"""A URL is admitted once, refused with a reason, or known already."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from periplus.config import Scope
from periplus.frontier.admission import Admission
from periplus.frontier.caps import DomainCaps
from periplus.frontier.scope import ScopeRules
from periplus.model import Decision, QueuedUrl, Reason, Verdict
from periplus.store.catalog.catalog import Catalog
from periplus.store.database.sqlite_database import SqliteDatabase
from periplus.store.shares import share_of
from store.records import WRITTEN, batch_of, queued


class SiteAdmission:
    """An admission for example.org, unless the scope is wider, that knows the URLs of earlier runs."""

    def __init__(self, known: Iterable[str] = (), **scope: Any) -> None:
        settings = Scope(**scope)
        self.admission = Admission(ScopeRules(settings, ["example.org"]), DomainCaps(settings))
        with tempfile.TemporaryDirectory() as folder:
            catalog = Catalog(SqliteDatabase(Path(folder) / "crawl.db", create=True))
            catalog.commit(batch_of(*map(queued, known)), WRITTEN, 1, {})
            self.admission.load(catalog)
            catalog.close()

    def admit(self, url: str, depth: int = 0, **facts: int) -> QueuedUrl | Decision | None:
        return self.admission.admit(url, depth=depth, reason=Reason.LINK, via="https://example.org/", **facts)


def test_a_new_url_is_queued_with_its_fields() -> None:
    site = SiteAdmission()
    assert site.admit("https://example.org:8443/a?b=c", 2, redirects=1) == QueuedUrl(
        url="https://example.org:8443/a?b=c",
        host="example.org",
        depth=2,
        priority=2.0,
        reason=Reason.LINK,
        via="https://example.org/",
        redirects=1,
    )


def test_pages_nearer_to_the_seeds_come_first() -> None:
    site = SiteAdmission()
    far, near = site.admit("https://example.org/far", 9), site.admit("https://example.org/near", 1)
    assert isinstance(far, QueuedUrl)
    assert isinstance(near, QueuedUrl)
    assert near.priority < far.priority


def test_a_url_seen_again_is_known() -> None:
    site = SiteAdmission()
    assert isinstance(site.admit("https://example.org/a"), QueuedUrl)
    assert site.admit("https://example.org/a") is None
    assert site.admit("https://example.org/a", 5) is None
    assert isinstance(site.admit("http://example.org/a"), QueuedUrl)


def test_a_known_page_is_not_refused_because_this_link_to_it_is_too_deep() -> None:
    site = SiteAdmission(depth=3)
    assert isinstance(site.admit("https://example.org/home", 0), QueuedUrl)
    assert site.admit("https://example.org/home", 4) is None


def test_a_url_of_an_earlier_run_is_known() -> None:
    site = SiteAdmission(known=["https://example.org/a"])
    assert site.admit("https://example.org/a") is None
    assert isinstance(site.admit("https://example.org/b"), QueuedUrl)


def test_the_scope_refuses_with_its_own_reason() -> None:
    decision = SiteAdmission().admit("https://example.com/")
    assert isinstance(decision, Decision)
    assert (decision.verdict, decision.reason) == (Verdict.REFUSED, Reason.SCOPE_HOST)


@pytest.mark.parametrize("url", ["https://example.com/", "https://example.org/a.png", "https://example.org/a/a/a"])
def test_a_refused_url_does_not_count_as_seen(url: str) -> None:
    site = SiteAdmission(pages_per_domain=1)
    first = site.admit(url)
    assert isinstance(first, Decision)
    assert site.admit(url) == first
    assert isinstance(site.admit("https://example.org/"), QueuedUrl), "nothing was counted so far"


def test_a_url_that_is_too_deep_here_may_be_admitted_from_another_page() -> None:
    site = SiteAdmission(depth=3)
    assert isinstance(site.admit("https://example.org/a", 4), Decision)
    assert isinstance(site.admit("https://example.org/a", 3), QueuedUrl)


# -- caps -----------------------------------------------------------------------------------------------------------


def refused(decision: object) -> tuple[Reason, str]:
    assert isinstance(decision, Decision)
    assert decision.verdict is Verdict.REFUSED
    return decision.reason, decision.detail


def test_a_domain_is_capped_over_all_its_hosts() -> None:
    site = SiteAdmission(pages_per_domain=3, hosts=[".*"])
    for host in ("a.example.co.uk", "b.example.co.uk", "example.co.uk"):
        assert isinstance(site.admit(f"https://{host}/"), QueuedUrl)
    assert refused(site.admit("https://c.example.co.uk/")) == (
        Reason.DOMAIN_CAP,
        "example.co.uk has 3 URLs, the limit of scope.pages_per_domain",
    )
    assert isinstance(site.admit("https://other.co.uk/"), QueuedUrl)


def test_a_capped_url_does_not_count_as_seen_and_known_ones_stay_known() -> None:
    site = SiteAdmission(pages_per_domain=1)
    site.admit("https://example.org/a")
    for _ in range(3):
        assert isinstance(site.admit("https://example.org/b"), Decision)
    assert site.admit("https://example.org/a") is None


def test_the_caps_count_what_earlier_runs_admitted() -> None:
    known = [f"https://h{number}.example.org/" for number in range(4)]
    site = SiteAdmission(known, hosts=[".*"], pages_per_domain=6, hosts_per_domain=5)
    assert isinstance(site.admit("https://h0.example.org/a"), QueuedUrl)
    assert isinstance(site.admit("https://h9.example.org/"), QueuedUrl)
    assert refused(site.admit("https://h9.example.org/b"))[0] is Reason.DOMAIN_CAP
    site = SiteAdmission(known, hosts=[".*"], hosts_per_domain=4)
    assert refused(site.admit("https://h9.example.org/"))[0] is Reason.HOSTS_CAP


@pytest.mark.parametrize("name", ["example.co.uk", "EXAMPLE.co.uk", "www.example.co.uk"])
def test_a_domain_that_is_named_has_its_own_cap(name: str) -> None:
    site = SiteAdmission(pages_per_domain=1, domain_pages={name: 2}, hosts=[".*"])
    for number in range(2):
        assert isinstance(site.admit(f"https://a.example.co.uk/{number}"), QueuedUrl)
    assert refused(site.admit("https://a.example.co.uk/2")) == (
        Reason.DOMAIN_CAP,
        "example.co.uk has 2 URLs, the limit of scope.domain_pages.example.co.uk",
    )
    assert isinstance(site.admit("https://other.co.uk/"), QueuedUrl)
    assert refused(site.admit("https://other.co.uk/1"))[0] is Reason.DOMAIN_CAP


def test_a_domain_with_too_many_hosts_is_capped_but_its_known_hosts_continue() -> None:
    site = SiteAdmission(hosts_per_domain=3, hosts=[".*"])
    for number in range(3):
        assert isinstance(site.admit(f"https://h{number}.example.co.uk/"), QueuedUrl)
    for _ in range(2):
        assert refused(site.admit("https://h3.example.co.uk/")) == (
            Reason.HOSTS_CAP,
            "example.co.uk has 3 hosts, the limit of scope.hosts_per_domain",
        )
    assert isinstance(site.admit("https://h2.example.co.uk/b"), QueuedUrl)
    assert isinstance(site.admit("https://h3.other.co.uk/"), QueuedUrl)


def test_each_ip_address_is_its_own_domain() -> None:
    site = SiteAdmission(pages_per_domain=1, hosts_per_domain=1, hosts=[".*"])
    for host in ("192.0.2.1", "192.0.2.2", "[2001:db8::1]"):
        assert isinstance(site.admit(f"http://{host}/"), QueuedUrl)
        assert isinstance(site.admit(f"http://{host}/b"), Decision)


# -- keys by share ------------------------------------------------------------------------------------------------

MINE, OTHER = "https://example.org/known", "https://example.com/known"
BOTH = {share_of("example.org"), share_of("example.com")}


@pytest.fixture
def database(tmp_path: Path) -> Iterator[SqliteDatabase]:
    with closing(SqliteDatabase(tmp_path / "crawl.db", create=True)) as database:
        Catalog(database).commit(batch_of(queued(MINE), queued(OTHER)), WRITTEN, 1, {})
        yield database


def of_shares(database: SqliteDatabase, *shares: set[int]) -> Admission:
    settings = Scope(hosts=[".*"])
    admission = Admission(ScopeRules(settings, []), DomainCaps(settings))
    for some in shares:
        admission.load(Catalog(database), some)
    return admission


def knows(admission: Admission, url: str) -> bool:
    return admission.admit(url, depth=0, reason=Reason.LINK, via="") is None


def test_a_worker_knows_the_urls_of_its_own_shares_only(database: SqliteDatabase) -> None:
    admission = of_shares(database, {share_of("example.org")})
    assert knows(admission, MINE)
    assert not knows(admission, OTHER)
    assert admission.forward("https://example.com/new", "example.com", 1, Reason.LINK) is True
    assert admission.forward("https://example.com/new", "example.com", 1, Reason.LINK) is False, "forwarded before"


def test_the_urls_of_a_share_are_known_when_a_worker_is_given_it(database: SqliteDatabase) -> None:
    admission = of_shares(database, {share_of("example.org")}, {share_of("example.com")})
    assert knows(admission, MINE)
    assert knows(admission, OTHER)


def test_links_into_a_share_that_was_given_away_are_forwarded(database: SqliteDatabase) -> None:
    admission = of_shares(database, BOTH)
    admission.drop({share_of("example.com")})
    assert knows(admission, MINE)
    assert admission.forward(OTHER, "example.com", 1, Reason.LINK) is True


def test_a_url_that_is_never_followed_is_known_in_every_share(database: SqliteDatabase) -> None:
    admission = of_shares(database, {share_of("example.org")})
    for url in ("https://example.org/random", "https://example.com/random"):
        admission.mark_known(url)
        assert knows(admission, url)
    assert admission.forward("https://example.com/random", "example.com", 1, Reason.LINK) is False


def test_a_url_out_of_scope_is_refused_by_any_worker(database: SqliteDatabase) -> None:
    settings = Scope(hosts=["example.org"])
    admission = Admission(ScopeRules(settings, []), DomainCaps(settings))
    admission.load(Catalog(database), {share_of("example.org")})
    refusal = admission.admit(OTHER, depth=0, reason=Reason.LINK, via="")
    assert isinstance(refusal, Decision)
    assert refusal.reason is Reason.SCOPE_HOST
