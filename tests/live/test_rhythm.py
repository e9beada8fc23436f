"""When the builder updates, ranks and rebuilds."""

from __future__ import annotations

from dataclasses import replace

from periplus.live.rhythm import DEADLINE, Rhythm, Situation, rate_limit

BUSY = Situation(now=1000.0, waiting=500, oldest_age=8.0, quiet_since=1000.0, documents=10_000)
QUIET = replace(BUSY, waiting=0, oldest_age=0.0, quiet_since=900.0)


def test_the_first_pages_are_indexed_at_once() -> None:
    assert Rhythm(1000.0).is_update_due(replace(BUSY, documents=0))


def test_nothing_is_done_without_new_pages() -> None:
    assert not Rhythm(0.0).is_update_due(QUIET)


def test_updates_become_rarer_as_the_index_grows() -> None:
    rhythm = Rhythm(0.0, updated=993.0)
    assert rhythm.is_update_due(replace(BUSY, documents=100))
    assert not rhythm.is_update_due(replace(BUSY, documents=100_000))


def test_a_busy_machine_is_not_kept_busy_by_updates() -> None:
    rhythm = Rhythm(0.0, updated=990.0, update_seconds=1.0)
    assert rhythm.is_update_due(replace(BUSY, documents=100))
    rhythm.note_update(990.0, 500, seconds=12.0, parsing=3.0)
    assert not rhythm.is_update_due(replace(BUSY, documents=100))
    assert round(rhythm.pages_per_second) == 33


def test_no_page_waits_longer_than_the_deadline_for_its_update() -> None:
    rhythm = Rhythm(0.0, updated=990.0, pages_per_second=100.0)
    waiting = replace(BUSY, documents=500_000, oldest_age=DEADLINE - 10.0)
    assert not rhythm.is_update_due(replace(waiting, oldest_age=1.0, waiting=1))
    assert rhythm.is_update_due(waiting), "500 pages and 500,000 documents take more than the remaining time"


def test_ranks_are_computed_when_the_pages_have_grown_by_a_fifth() -> None:
    rhythm = Rhythm(0.0, ranked=900.0, ranked_pages=9_000)
    assert not rhythm.is_rank_due(BUSY)
    assert rhythm.is_rank_due(replace(BUSY, documents=11_000))
    assert not Rhythm(0.0, ranked=990.0, ranked_pages=5_000).is_rank_due(BUSY), "the last time was ten seconds ago"


def test_a_quiet_collection_is_ranked_and_rebuilt_once() -> None:
    rhythm = Rhythm(0.0, ranked=900.0, ranked_pages=9_900, rebuilt_documents=9_900)
    assert rhythm.is_rank_due(QUIET)
    assert not rhythm.is_rebuild_due(QUIET)
    rhythm.note_rank(1000.0, 2.0, QUIET.documents)
    assert not rhythm.is_rank_due(QUIET)
    assert rhythm.is_rebuild_due(QUIET), "documents are written again whose anchor texts have changed"
    rhythm.note_rebuild(1000.0, 20.0, QUIET.documents)
    assert not rhythm.is_rebuild_due(replace(QUIET, now=2000.0))


def test_a_busy_collection_is_rebuilt_rarely() -> None:
    rhythm = Rhythm(0.0, rebuilt=900.0, rebuilt_documents=1_000, rebuild_per_document=0.002)
    busy = replace(BUSY, waiting=0)
    assert not rhythm.is_rebuild_due(busy), "a rebuild of 20 s may come after 800 s"
    assert not Rhythm(990.0).is_rebuild_due(busy), "nor soon after the start"
    assert rhythm.is_rebuild_due(replace(busy, now=1800.0, quiet_since=1800.0))


def test_the_crawl_is_slowed_down_when_pages_wait_too_long() -> None:
    assert rate_limit(waiting=500, pages_per_second=100.0, oldest_age=5.0) is None
    assert rate_limit(waiting=100_000, pages_per_second=0.0, oldest_age=5.0) == 30.0, "the speed is not known yet"
    limits = [rate_limit(waiting, 100.0, 5.0) for waiting in (2_500, 3_500, 5_000)]
    assert limits == [90.0, 60.0, 30.0]
    assert rate_limit(waiting=10, pages_per_second=100.0, oldest_age=70.0) == 30.0
