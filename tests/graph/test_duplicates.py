"""Addresses that are one page share one rank, and a stranger cannot speak in another's name."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from graph.webs import Moved, Told, web

OLD, NEW, A, B, C = "http://site.org/old", "https://site.org/new", "https://a.org/", "https://b.org/", "https://c.org/"


def test_a_page_that_moved_takes_its_votes_along(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(A, [OLD]), Told(B, [NEW]), Told(NEW), Moved(OLD, NEW)).rank()
    assert ranks.stands_at(OLD) == NEW
    assert ranks.of(OLD) == ranks.of(NEW)
    assert ranks.voters(NEW) == {A, B}


def test_votes_follow_a_chain_of_moves_to_its_end(tmp_path: Path) -> None:
    steps = [f"https://site.org/{number}" for number in range(20)]
    moves = [Moved(first, second) for first, second in pairwise(steps)]
    ranks = web(tmp_path, Told(A, [steps[0]]), *moves).rank()
    assert {ranks.stands_at(step) for step in steps} == {steps[-1]}
    assert ranks.voters(steps[-1]) == {A}


def test_addresses_that_redirect_in_a_circle_stay_themselves(tmp_path: Path) -> None:
    circle = [Moved(OLD, NEW), Moved(NEW, OLD), Moved(C, OLD)]
    ranks = web(tmp_path, Told(A, [OLD, NEW, C]), *circle).rank()
    assert [ranks.stands_at(url) for url in (OLD, NEW, C)] == [OLD, NEW, C]


def test_an_address_that_is_a_page_again_is_not_moved_any_more(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(A, [OLD]), Moved(OLD, NEW, at=1000), Told(OLD, [B], at=2000)).rank()
    assert ranks.stands_at(OLD) == OLD
    assert ranks.voters(B) == {OLD}


def test_a_page_that_has_moved_away_does_not_vote_any_more(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(OLD, [B], at=1000), Moved(OLD, NEW, at=2000), Told(NEW, [C], at=2000)).rank()
    assert not ranks.known(B)
    assert ranks.voters(C) == {NEW}


def test_a_page_may_name_another_address_of_its_domain_as_its_own(tmp_path: Path) -> None:
    printed = "https://www.site.org/new?print=1"
    ranks = web(tmp_path, Told(A, [printed]), Told(printed, [B], canonical=NEW), Told(NEW, [C])).rank()
    assert ranks.stands_at(printed) == NEW
    assert ranks.voters(NEW) == {A}
    assert ranks.voters(C) == {NEW}
    assert not ranks.known(B), "one page votes for each: the one at the preferred address"


def test_a_page_votes_for_its_preferred_address_when_that_was_not_fetched(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(OLD, [B], canonical=NEW), Told(f"{OLD}2", [C], canonical=NEW)).rank()
    assert ranks.voters(B) == {NEW}
    assert not ranks.known(C)


def test_a_stranger_cannot_vote_in_the_name_of_another(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(A, [B], canonical=NEW), Told(C, [NEW])).rank()
    assert ranks.stands_at(A) == A
    assert ranks.voters(B) == {A}


def test_a_preferred_address_that_redirects_back_changes_nothing(tmp_path: Path) -> None:
    ranks = web(tmp_path, Told(A, [OLD, NEW]), Told(NEW, [B], canonical=OLD), Moved(OLD, NEW)).rank()
    assert ranks.stands_at(OLD) == ranks.stands_at(NEW) == NEW
    assert ranks.voters(NEW) == {A}


def test_a_move_to_a_page_that_prefers_a_third_address_ends_there(tmp_path: Path) -> None:
    third = "https://site.org/third"
    ranks = web(tmp_path, Told(A, [OLD]), Moved(OLD, NEW), Told(NEW, canonical=third)).rank()
    assert ranks.stands_at(OLD) == ranks.stands_at(NEW) == third


def test_the_same_bytes_on_one_host_are_one_page(tmp_path: Path) -> None:
    root, index = "https://site.org/", "https://site.org/index.html"
    pages = [Told(index, [B], body="home"), Told(root, [B], body="home"), Told(A, [index]), Told(B, [root])]
    ranks = web(tmp_path, *pages).rank()
    assert ranks.stands_at(index) == root
    assert ranks.voters(root) == {A, B}
    assert ranks.voters(B) == {root}


def test_what_leads_to_a_copy_leads_to_the_page(tmp_path: Path) -> None:
    root, index = "https://site.org/", "https://site.org/index.html"
    copies = [Told(index, body="home"), Told(root, body="home")]
    ranks = web(tmp_path, *copies, Moved(OLD, index), Told(A, [OLD])).rank()
    assert ranks.stands_at(OLD) == root
    assert ranks.voters(root) == {A}


def test_a_document_on_two_hosts_credits_each_target_once(tmp_path: Path) -> None:
    here, there = "https://one.org/doc", "https://two.org/doc"
    original = Told(here, [C, "https://one.org/next"], body="same")
    ranks = web(tmp_path, original, Told(there, [C, "https://two.org/next"], body="same")).rank()
    assert ranks.voters(C) == {here}
    assert ranks.voters("https://two.org/next") == {there}
