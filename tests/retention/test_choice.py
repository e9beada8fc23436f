"""Which versions of a page are beyond the limits?"""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from periplus.retention.choice import Limits, surplus
from periplus.store.catalog.prune_catalog import ArchivedFetch

DAY = 86_400.0
NOW = 1_000 * DAY


def page(day: float, content: str) -> ArchivedFetch:
    return ArchivedFetch(day * DAY, True, False, content.encode(), 1, int(day * 10), 5)


def again(day: float, content: str) -> ArchivedFetch:
    return ArchivedFetch(day * DAY, False, True, content.encode(), 1, int(day * 10), 5)


def moved(day: float) -> ArchivedFetch:
    return ArchivedFetch(day * DAY, False, False, b"", 1, int(day * 10), 5)


def days(
    *records: ArchivedFetch, versions: int = 0, keep_days: float = 0, referred: frozenset[bytes] = frozenset()
) -> list[float]:
    limits = Limits.of(versions, keep_days, NOW, referred)
    return sorted(record.at / DAY for version in surplus(records, limits) for record in version)


def test_without_limits_nothing_goes() -> None:
    assert not Limits.of(0, 0, NOW, ())
    assert days(page(1, "a"), page(2, "b")) == []


def test_the_newest_versions_stay() -> None:
    assert days(page(1, "a"), page(2, "b"), page(3, "c"), versions=2) == [1]
    assert days(page(1, "a"), versions=1) == []


def test_a_version_goes_with_the_visits_that_confirmed_it() -> None:
    history = (page(1, "a"), again(2, "a"), page(3, "b"), again(4, "b"))
    assert days(*history, versions=1) == [1, 2]


def test_a_version_that_came_back_is_another_one() -> None:
    history = (page(1, "a"), page(2, "b"), page(3, "a"), again(4, "a"))
    assert days(*history, versions=1) == [1, 2]


def test_old_versions_go_but_for_the_newest() -> None:
    history = (page(100, "a"), again(995, "a"), page(996, "b"), page(997, "c"))
    assert days(page(1, "a"), page(2, "b"), keep_days=30) == [1]
    assert days(*history, keep_days=30) == []  # the first was confirmed five days ago
    assert days(*history, keep_days=3.5) == [100, 995, 996]


def test_the_newest_by_date_stays_although_an_older_one_was_imported_later() -> None:
    assert days(page(9, "b"), page(1, "a"), versions=1) == []
    assert days(page(5, "x"), page(9, "b"), page(1, "a"), versions=1) == [5]
    assert days(page(9, "b"), page(1, "a"), keep_days=30) == []


def test_redirects_do_not_push_out_the_page() -> None:
    assert days(page(1, "a"), moved(2), moved(3), moved(4), versions=1) == [2, 3]


def test_what_other_urls_refer_to_stays() -> None:
    assert days(page(1, "a"), page(2, "b"), versions=1, referred=frozenset({b"a"})) == []


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=20),
    st.integers(0, 4),
    st.sampled_from([0.0, 1.0, 500.0]),
)
def test_every_revisit_record_that_stays_has_its_response(
    history: list[tuple[str, bool]], versions: int, old: float
) -> None:
    known: set[str] = set()
    records = []
    for day, (content, is_again) in enumerate(history, 985):
        records.append(again(day, content) if is_again and content in known else page(day, content))
        known.add(content)
    gone = {record.offset for version in surplus(records, Limits.of(versions, old, NOW, ())) for record in version}
    left = [record for record in records if record.offset not in gone]
    assert any(record.is_page for record in left)
    for place, record in enumerate(left):
        if record.is_confirmation:
            assert any(one.is_page and one.content_id == record.content_id for one in left[:place])
    if versions:
        assert sum(record.is_page for record in left) <= versions
