"""Results of one host stand together, and no clearly better result is passed."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from periplus.model import Hit
from periplus.web.results.grouping import GROUP_MARGIN, MOST_INDENTED, grouped
from web.engines import HARBOUR


def hits(*pairs: tuple[str, float]) -> list[Hit]:
    return [
        replace(HARBOUR, url=f"https://{host}/{n}", host=host, score=score) for n, (host, score) in enumerate(pairs)
    ]


def shown(*pairs: tuple[str, float]) -> str:
    """The hosts in order; an indented result follows a plus sign."""
    return " ".join(("+" if one.is_indented else "") + one.hit.host for one in grouped(hits(*pairs)))


def test_a_result_moves_up_to_its_host_when_the_others_are_hardly_better() -> None:
    assert shown(("a", 9.0), ("b", 8.0), ("a", 7.8)) == "a +a b"
    assert shown(("a", 9.0), ("b", 8.0), ("c", 7.9), ("a", 7.8), ("b", 7.7)) == "a +a b +b c"


def test_a_result_that_is_clearly_better_is_not_passed() -> None:
    assert shown(("a", 9.0), ("b", 8.2), ("a", 7.8)) == "a b a"
    assert shown(("a", 9.0), ("b", 8.2), ("c", 7.8), ("a", 7.8)) == "a b c a"
    edge = 8.0 - GROUP_MARGIN
    assert shown(("a", 9.0), ("b", 8.0), ("a", edge)) == "a +a b"
    assert shown(("a", 9.0), ("b", 8.0), ("a", edge - 0.01)) == "a b a"


def test_a_group_has_at_most_four_results() -> None:
    assert shown(*[("a", 9.0)] * 6, ("b", 1.0)) == "a +a +a +a a +a b"


def test_results_of_a_single_host_are_not_indented() -> None:
    assert shown(*[("a", 9.0)] * 3) == "a a a"
    assert grouped([]) == []


def test_the_last_of_a_group_is_marked() -> None:
    found = grouped(hits(("a", 9.0), ("a", 8.9), ("b", 8.8)))
    assert [one.is_last for one in found] == [False, True, False]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 3)), max_size=15))
def test_every_result_is_shown_once_and_passes_none_that_is_better_by_more_than_the_margin(
    pairs: list[tuple[str, float]],
) -> None:
    given_ = hits(*sorted(pairs, key=lambda pair: -pair[1]))
    order = [one.hit for one in grouped(given_)]
    assert sorted(hit.url for hit in order) == sorted(hit.url for hit in given_)
    for place, hit in enumerate(order):
        passed = [other for other in order[place + 1 :] if given_.index(other) < given_.index(hit)]
        assert all(other.score - hit.score <= GROUP_MARGIN for other in passed)
    assert MOST_INDENTED == 3
