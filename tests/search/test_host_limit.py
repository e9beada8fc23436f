"""One host does not fill a page while other hosts have results, and pages are slices of one list."""

from __future__ import annotations

from collections import Counter
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.search.host_limit import limit_per_host


def spread_out(results: str, per_host: int, size: int, before: str = "") -> str:
    """Each letter is a result of the host it names; results keep their order by being numbered."""
    numbered = list(enumerate(results))
    found = list(limit_per_host(numbered, lambda one: one[1], per_host, size, [(-1, host) for host in before]))
    assert sorted(found) == numbered
    for host in set(results):
        places = [place for place, name in found if name == host]
        assert places == sorted(places)
    return "".join(host for _, host in found)


@pytest.mark.parametrize(
    ("results", "per_host", "size", "expected"),
    [
        ("", 2, 10, ""),
        ("aaab", 2, 10, "aaba"),
        ("aaaabc", 2, 3, "aabaac"),
        ("aaaa", 2, 3, "aaaa"),
        ("aabb", 1, 2, "abab"),
        ("abcd", 1, 2, "abcd"),
        ("aaabbbccc", 2, 4, "aabbabcc" + "c"),
        ("aaaaab", 5, 5, "aaaaab"),
    ],
)
def test_what_is_too_much_of_one_host_moves_down(results: str, per_host: int, size: int, expected: str) -> None:
    assert spread_out(results, per_host, size) == expected


def test_a_page_that_has_begun_is_finished_first() -> None:
    assert spread_out("aabb", 2, 4, before="aa") == "bbaa"
    assert spread_out("aabb", 2, 4, before="cccca") == "abba"
    assert spread_out("aabb", 1, 4, before="cccc") == "abab"


HOSTS = st.text("abcd", max_size=40)


@given(HOSTS, st.integers(1, 4), st.integers(1, 9))
def test_no_host_has_more_than_its_share_while_others_are_left(results: str, per_host: int, size: int) -> None:
    found = spread_out(results, per_host, size)
    for start in range(0, len(found), size):
        page, rest = found[start : start + size], found[start + size :]
        over_limit = {host for host, count in Counter(page).items() if count > per_host}
        if over_limit:  # then those after it are of hosts that have their share on the page too
            assert all(Counter(page)[host] >= per_host for host in set(rest))


@given(HOSTS, st.integers(1, 4), st.integers(1, 9), st.integers(0, 40))
def test_as_much_as_is_needed_can_be_taken(results: str, per_host: int, size: int, needed: int) -> None:
    whole = list(limit_per_host(results, str, per_host, size))
    assert list(islice(limit_per_host(results, str, per_host, size), needed)) == whole[:needed]


@given(HOSTS, HOSTS, st.integers(1, 4), st.integers(1, 9))
def test_what_stands_before_counts_on_the_page_it_shares(first: str, second: str, per_host: int, size: int) -> None:
    begun = first[len(first) - len(first) % size :]
    page = begun + "".join(limit_per_host(second, str, per_host, size, first))[: size - len(begun)]
    over_limit = {
        host for host, count in Counter(page[len(begun) :]).items() if Counter(page)[host] > per_host and count
    }
    others = set(second) - set(page)
    assert not (over_limit and others and len(page) == size)
