"""A pattern that leads to nothing new is refused, looked at again now and then, and forgiven when that pays."""

from __future__ import annotations

import pytest

from periplus.frontier.traps import Traps
from periplus.model import Reason

HOST = "a.test"
HOME = f"http://{HOST}/"
LIMIT = 5


def taught(wasted: int = LIMIT, *, path: str = "day/{}") -> Traps:
    """Traps that know of pages without news."""
    traps = Traps(LIMIT)
    for number in range(wasted):
        traps.learn(HOME + path.format(number), HOST, has_news=False)
    return traps


def refused(
    traps: Traps, path: str, via: str = "day/0", *, at_gate: bool = False, reason: Reason = Reason.LINK
) -> bool:
    return traps.refusal(HOME + path, HOST, HOME + via, reason, at_gate=at_gate) is not None


def test_a_pattern_is_a_trap_once_enough_pages_had_no_news() -> None:
    assert not refused(taught(LIMIT - 1), "day/99")
    traps = taught()
    decision = traps.refusal(HOME + "day/99", HOST, HOME + "day/0", Reason.LINK)
    assert decision is not None
    assert (decision.reason, decision.detail) == (Reason.TRAP_LEARNED, "5 of 5 pages like /day/# said nothing new")
    assert not refused(traps, "night/99"), "other patterns are not"
    assert traps.refusal("http://b.test/day/99", "b.test", HOME + "day/0", Reason.LINK) is None, "nor other hosts"
    assert (traps.saved, traps.learned) == (1, 1)


def test_some_news_in_between_keep_a_pattern_from_being_a_trap() -> None:
    traps = Traps(LIMIT)
    for number in range(60):
        traps.learn(f"{HOME}day/{number}", HOST, has_news=number % 3 == 0)
    assert not refused(traps, "day/99")


def test_what_is_only_taken_for_news_speaks_for_no_pattern() -> None:
    traps = Traps(LIMIT)
    for number in range(LIMIT):
        traps.learn(f"{HOME}day/{number}", HOST, has_news=False)
        traps.learn(f"{HOME}day/1{number}", HOST, has_news=True, is_certain=False)
    assert refused(traps, "day/99")


def test_learning_can_be_switched_off() -> None:
    traps = Traps(0)
    for number in range(100):
        traps.learn(f"{HOME}day/{number}", HOST, has_news=False)
    assert not refused(traps, "day/999")


@pytest.mark.parametrize("reason", [Reason.SEED, Reason.LISTED, Reason.SITEMAP, Reason.REDIRECT_TARGET])
def test_what_people_and_sitemaps_name_is_never_refused(reason: Reason) -> None:
    assert not refused(taught(), "day/99", reason=reason)


def test_probes_become_rarer_and_one_with_news_ends_the_verdict() -> None:
    traps = taught()
    through = [number for number in range(100, 400) if not refused(traps, f"day/{number}")]
    assert [number - 100 for number in through] == [5, 12, 25, 50, 99, 196]
    assert traps.learn(f"{HOME}day/105", HOST, has_news=True) == ["/day/#"]
    assert not refused(traps, "day/500")
    assert traps.saved == 294 - 200, "the first two hundred come back"


def test_a_probe_chosen_at_the_gate_passes_when_its_turn_comes() -> None:
    traps = taught()
    while traps.saved < 200:
        refused(traps, f"day/{1000 + traps.saved}")
    through = [n for n in range(3000, 4000) if not refused(traps, f"day/{n}", at_gate=True)]
    assert len(through) in (1, 2, 3)
    assert not refused(traps, f"day/{through[0]}")


def test_the_first_refusals_are_made_when_their_turn_comes() -> None:
    traps = taught()
    assert not refused(traps, "day/99", at_gate=True)
    assert refused(traps, "day/99")


def test_links_of_a_page_with_news_are_followed_as_long_as_it_pays() -> None:
    traps = taught()
    dull = 0
    for number in range(100, 200):
        if not refused(traps, f"day/{number}", via="month/with-an-event"):
            dull += 1
            traps.learn(f"{HOME}day/{number}", HOST, has_news=False)
    assert 5 * LIMIT < dull <= 5 * LIMIT + 5, "but for probes"
    traps = taught()
    for number in range(100, 200):
        assert not refused(traps, f"day/{number}", via="month/with-an-event")
        traps.learn(f"{HOME}day/{number}", HOST, has_news=number % 10 == 0)


def test_what_else_is_new_about_a_url_than_the_parameter_that_makes_no_difference_is_asked_once() -> None:
    traps = taught(path="article/1?visit={}")
    assert refused(traps, "article/1?visit=99", via="article/1?visit=0")
    assert not refused(traps, "article/2?visit=1", via="article/1?visit=0")
    assert refused(traps, "article/2?visit=2", via="article/1?visit=0")


def test_a_parameter_is_not_blamed_for_another() -> None:
    traps = taught(path="list?sort={}")
    both = 0
    for page in range(2, 42):
        assert not refused(traps, f"list?page={page}", via="list?sort=0")
        traps.learn(f"{HOME}list?page={page}", HOST, has_news=True)
        both += refused(traps, f"list?page={page}&sort=1", via="list?sort=0")
    assert both >= 36, "all but a few probes"


def test_what_was_learned_survives() -> None:
    traps = taught()
    assert refused(traps, "day/77")
    again = Traps(LIMIT)
    again.load(traps.changes())
    assert traps.changes() == [], "told once"
    decision = again.judgement(f"{HOME}day/99", HOST)
    assert decision is not None
    assert decision.detail.startswith("5 of 5 pages")
    again.forget([HOST])
    assert again.judgement(f"{HOME}day/99", HOST) is None


def test_a_host_with_endless_patterns_costs_no_more_memory_than_others() -> None:
    traps = taught()
    for number in range(2_000):
        traps.learn(f"{HOME}{'x' * (number % 50)}{chr(97 + number % 26)}/p{number}q/", HOST, has_news=False)
        traps.learn(f"{HOME}list?p{number}=1", HOST, has_news=False)
    assert len(traps._hosts[HOST]) <= 256
    assert traps.judgement(f"{HOME}day/99", HOST) is not None, "traps are kept"
