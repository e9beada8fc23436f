"""A pattern that leads to nothing new is deferred, then refused and probed, and cleared by a new page."""

from __future__ import annotations

import pytest

from periplus.frontier.traps import Traps
from periplus.model import NEVER_SUSPECTED, Novelty, Reason, Verdict

HOST = "a.test"
HOME = f"http://{HOST}/"
LIMIT, ALLOWANCE = 5, 3
NONE, ALIKE, NEW = Novelty


def taught(wasted: int = LIMIT, *, path: str = "day/{}", allowance: int = 0) -> Traps:
    """Traps that know of pages without anything new."""
    traps = Traps(LIMIT, allowance)
    for number in range(wasted):
        traps.learn(HOME + path.format(number), HOST, NONE)
    return traps


def decided(
    traps: Traps, path: str, via: str = "day/0", *, deferred: bool = True, reason: Reason = Reason.LINK
) -> Verdict | None:
    decision = traps.decide(HOME + path, HOST, HOME + via, reason, is_deferred=deferred)
    return None if decision is None else decision.verdict


def refused(traps: Traps, path: str, via: str = "day/0") -> bool:
    return decided(traps, path, via) is Verdict.REFUSED


def refused_at_once(traps: Traps, path: str, via: str = "day/0") -> bool:
    return traps.refuse_link(HOME + path, HOST, HOME + via, Reason.LINK) is not None


def test_a_pattern_is_suspected_once_enough_pages_had_nothing_new() -> None:
    assert decided(taught(LIMIT - 1), "day/99", deferred=False) is None
    traps = taught()
    decision = traps.decide(HOME + "day/99", HOST, HOME + "day/0", Reason.LINK, is_deferred=False)
    assert decision is not None
    assert (decision.verdict, decision.reason) == (Verdict.DELAYED, Reason.TRAP_SUSPECTED)
    assert decision.detail == "5 of 5 pages like /day/# said nothing new"
    assert decided(traps, "night/99") is None, "other patterns are not"
    assert traps.decide("http://b.test/day/9", "b.test", HOME, Reason.LINK, is_deferred=False) is None, (
        "nor other hosts"
    )


def test_deferred_urls_are_fetched_while_the_allowance_lasts_and_then_refused() -> None:
    traps = taught(allowance=ALLOWANCE)
    found = []
    for number in range(100, 106):
        found.append(decided(traps, f"day/{number}"))
        if found[-1] is None:
            traps.learn(f"{HOME}day/{number}", HOST, NONE)
    assert found == [None] * ALLOWANCE + [Verdict.REFUSED] * 3
    assert (traps.saved, traps.learned) == (3, 1)


def test_the_allowance_belongs_to_the_host_whatever_its_patterns() -> None:
    traps = taught(allowance=ALLOWANCE)
    for number in range(LIMIT):
        traps.learn(f"{HOME}night/{number}", HOST, NONE)
    fetched = 0
    for path in (f"{word}/{number}" for number in range(100, 104) for word in ("day", "night")):
        if decided(traps, path) is None:
            fetched += 1
            traps.learn(HOME + path, HOST, NONE)
    assert fetched == ALLOWANCE


def test_a_page_with_something_new_gives_allowance_back() -> None:
    traps = taught(3 * LIMIT, allowance=ALLOWANCE)
    for number in range(ALLOWANCE):
        assert decided(traps, f"day/{100 + number}") is None
        traps.learn(f"{HOME}day/{100 + number}", HOST, NEW if number == 2 else NONE)
    assert decided(traps, "day/200") is None


def test_some_new_pages_in_between_keep_a_pattern_from_being_suspected() -> None:
    traps = Traps(LIMIT)
    for number in range(60):
        traps.learn(f"{HOME}day/{number}", HOST, NEW if number % 3 == 0 else NONE)
    assert decided(traps, "day/99", deferred=False) is None


def test_similar_pages_are_no_trap_unless_they_link_to_ever_more_of_their_pattern() -> None:
    traps = Traps(LIMIT)
    for number in range(100):
        traps.learn(f"{HOME}list?item={number}", HOST, ALIKE)
        traps.count_growth(f"{HOME}list?item={number}", HOST, [f"{HOME}list?item={number + 1}", f"{HOME}about"], 0)
    assert not traps.has_suspects(HOST)
    for number in range(LIMIT):
        traps.learn(f"{HOME}list?item={number}", HOST, ALIKE)
        traps.count_growth(f"{HOME}list?item={number}", HOST, [f"{HOME}list?item={number}{more}" for more in "ab"], 0)
    assert traps.has_suspects(HOST)


def test_a_page_that_was_not_compared_counts_for_no_pattern() -> None:
    traps = Traps(LIMIT)
    for number in range(LIMIT):
        traps.learn(f"{HOME}day/{number}", HOST, NONE)
        traps.learn(f"{HOME}day/1{number}", HOST, NEW, is_certain=False)
    assert refused(traps, "day/99")


def test_learning_can_be_switched_off() -> None:
    traps = Traps(0)
    for number in range(100):
        traps.learn(f"{HOME}day/{number}", HOST, NONE)
    assert decided(traps, "day/999") is None


@pytest.mark.parametrize("reason", [Reason.SEED, Reason.LISTED, Reason.SITEMAP, Reason.REDIRECT_TARGET])
def test_seeds_and_sitemap_entries_are_never_deferred_nor_refused(reason: Reason) -> None:
    assert decided(taught(), "day/99", reason=reason) is None
    assert decided(taught(), "day/99", deferred=False, reason=reason) is None


def test_probes_become_rarer_and_one_with_something_new_clears_the_pattern() -> None:
    traps = taught()
    through = [number for number in range(100, 400) if not refused(traps, f"day/{number}")]
    assert [number - 100 for number in through] == [5, 12, 25, 50, 99, 196]
    assert traps.learn(f"{HOME}day/105", HOST, NEW) == ["/day/#"]
    assert not refused(traps, "day/500")
    assert traps.saved == 0, "all that was refused comes back"


def test_a_thousand_urls_of_a_suspected_pattern_wait_and_more_are_refused_at_once() -> None:
    traps = taught()
    at_once = [number for number in range(1_100) if refused_at_once(traps, f"day/{1_000 + number}")]
    assert at_once[0] == 1_000
    assert len(at_once) in range(95, 100), "but for probes"
    probe = next(number for number in range(1_000, 1_100) if number not in at_once)
    assert decided(traps, f"day/{1_000 + probe}") is None, "a probe is fetched when its turn comes"


def test_links_of_a_page_with_something_new_are_fetched_even_if_similar() -> None:
    """The entries of an index, of which nothing differs but numbers."""
    traps = taught()
    for number in range(100, 500):
        assert not refused(traps, f"day/{number}", via="index")
        traps.learn(f"{HOME}day/{number}", HOST, NONE)
    assert refused(traps, "day/999", via="day/0")


def test_links_of_pages_with_something_new_are_refused_if_they_always_have_the_same_text() -> None:
    """The form to reply to an article, at as many addresses as there are articles."""
    traps = Traps(LIMIT)
    for number in range(LIMIT):
        traps.learn(f"{HOME}reply/{number}", HOST, NONE, is_repeat=number > 0)
    assert refused(traps, "reply/99", via="article")


def test_parameters_that_pages_with_something_new_link_to_are_refused_all_the_same() -> None:
    traps = taught(path="article/1?print={}")
    assert refused(traps, "article/1?print=99", via="article/1")


def test_enough_of_an_index_that_has_something_new_clear_a_pattern() -> None:
    traps = taught(3 * LIMIT)
    cleared: list[str] = []
    for number in range(100, 140):
        decided(traps, f"day/{number}", via="index")
        cleared += traps.learn(f"{HOME}day/{number}", HOST, NEW)
    assert cleared == ["/day/#"]


def test_a_url_that_differs_in_more_than_the_suspected_parameter_is_fetched_once() -> None:
    traps = taught(path="article/1?visit={}")
    assert refused(traps, "article/1?visit=99", via="article/1?visit=0")
    assert decided(traps, "article/2?visit=1", via="article/1?visit=0", deferred=False) is None
    assert refused(traps, "article/2?visit=2", via="article/1?visit=0")


def test_a_parameter_is_not_blamed_for_another() -> None:
    traps = taught(path="list?sort={}")
    both = 0
    for page in range(2, 42):
        assert not refused(traps, f"list?page={page}", via="list?sort=0")
        traps.learn(f"{HOME}list?page={page}", HOST, NEW)
        both += refused(traps, f"list?page={page}&sort=1", via="list?sort=0")
    assert both >= 36, "all but a few probes"


def test_learned_patterns_and_the_spent_allowance_are_restored() -> None:
    traps = taught(allowance=1)
    assert not refused(traps, "day/76")
    traps.learn(f"{HOME}day/76", HOST, NONE)
    assert refused(traps, "day/77")
    again = Traps(LIMIT, allowance=1)
    again.load(traps.changes())
    assert traps.changes() == [], "told once"
    verdict = again.verdict(f"{HOME}day/99", HOST)
    assert verdict is not None
    assert (verdict.verdict, verdict.detail[:12]) == (Verdict.REFUSED, "6 of 6 pages")
    again.forget([HOST])
    assert again.verdict(f"{HOME}day/99", HOST) is None


def test_a_pattern_that_was_unlearned_is_never_suspected_again() -> None:
    traps = Traps(LIMIT)
    traps.load(pattern._replace(score=NEVER_SUSPECTED) for pattern in taught().changes())
    for number in range(100):
        traps.learn(f"{HOME}day/{number}", HOST, NONE)
    assert not traps.has_suspects(HOST)


def test_a_suspected_pattern_that_the_user_unlearns_while_it_is_crawled_is_trusted_at_once() -> None:
    traps = taught()
    traps.changes()
    pattern = next(iter(traps._hosts[HOST]))
    assert traps.has_suspects(HOST)
    for one in list(traps._hosts[HOST]):
        traps.unlearn(HOST, one)
    assert not traps.has_suspects(HOST)
    assert {one.score for one in traps.changes()} == {NEVER_SUSPECTED}
    for number in range(100):
        traps.learn(f"{HOME}day/{number}", HOST, NONE)
    assert not traps.has_suspects(HOST)
    traps.unlearn("unknown.test", pattern)
    assert not traps.has_suspects("unknown.test")


def test_a_host_with_endless_patterns_costs_no_more_memory_than_others() -> None:
    traps = taught()
    for number in range(2_000):
        traps.learn(f"{HOME}{'x' * (number % 50)}{chr(97 + number % 26)}/p{number}q/", HOST, NONE)
        traps.learn(f"{HOME}list?p{number}=1", HOST, NONE)
    assert len(traps._hosts[HOST]) <= 256
    assert traps.verdict(f"{HOME}day/99", HOST) is not None, "suspected ones are kept"
