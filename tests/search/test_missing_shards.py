"""What was computed without a shard says so, and is not kept."""

from __future__ import annotations

from threading import Thread

import pytest

from periplus.search.missing_shards import CompleteCache, note_missing, tracking_missing


def test_a_block_knows_the_shards_that_were_missing_in_it_and_inside_it() -> None:
    with tracking_missing() as outer:
        note_missing([1])
        with tracking_missing() as inner:
            note_missing([2])
        note_missing([3])
    assert (outer, inner) == ({1, 2, 3}, {2})
    note_missing([4])  # outside of all blocks
    with tracking_missing() as later:
        pass
    assert later == set()


def test_an_error_does_not_hide_missing_shards_from_the_block_around() -> None:
    cache = CompleteCache[str, int](2)

    def failing() -> int:
        note_missing([2])
        raise ValueError("broken")

    with tracking_missing() as outer, pytest.raises(ValueError, match="broken"):
        cache.get("harbour", failing)
    assert outer == {2}
    assert cache.get("harbour", lambda: 1) == 1


def test_threads_do_not_see_the_missing_shards_of_each_other() -> None:
    with tracking_missing() as missing:
        other = Thread(target=note_missing, args=([1],))
        other.start()
        other.join()
    assert missing == set()


def test_a_value_that_was_computed_without_a_shard_is_not_kept() -> None:
    cache = CompleteCache[str, int](2)

    def partial() -> int:
        note_missing([0])
        return 1

    with tracking_missing() as missing:
        assert cache.get("harbour", partial) == 1
    assert missing == {0}
    assert cache.get("harbour", lambda: 2) == 2
    assert cache.get("harbour", lambda: 3) == 2


def test_the_values_that_were_used_last_are_kept() -> None:
    cache = CompleteCache[str, int](2)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: 1)
    assert [cache.get(key, lambda: 2) for key in ("a", "c", "b")] == [1, 1, 2]
