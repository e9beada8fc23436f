"""The filter knows every URL that was added and no other, and ten million URLs fit into memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from periplus.frontier.seen import SeenFilter
from periplus.url import url_key

# Few different upper halves, so that slots collide and probes run over the end of the table.
CROWDED = st.builds(lambda high, low: (high << 40) | low, st.sampled_from([0, 1, 2**23, 2**24 - 1]), st.integers(0, 50))
KEY = st.one_of(CROWDED, st.integers(0, 2**64 - 1))


def keys(number: int, seed: int = 1) -> NDArray[np.uint64]:
    return np.random.default_rng(seed).integers(1, 2**64, number, dtype=np.uint64)


@given(st.lists(st.one_of(KEY, st.lists(KEY, max_size=20)), max_size=60))
@settings(max_examples=200)
def test_the_filter_behaves_like_a_set(steps: list[int | list[int]]) -> None:
    seen, model = SeenFilter(), set[int]()
    for step in steps:
        if isinstance(step, int):
            key = step or 1  # zero and one are the same: a key of zero comes once in 2**64 URLs
            assert seen.add(step) is (key not in model)
            model.add(key)
        else:
            seen.add_many(np.array(step, np.uint64))
            model.update(key or 1 for key in step)
        assert len(seen) == len(model)
    assert all(key in seen for key in model)
    assert not any(key + 1 in seen for key in model if key + 1 not in model and key + 1 < 2**64)


def test_nothing_is_forgotten_as_it_grows() -> None:
    seen = SeenFilter()
    met, strange = keys(50_000).tolist(), keys(50_000, seed=2).tolist()
    sizes = set()
    for key in met:
        assert seen.add(key)
        sizes.add(seen.bytes)
    assert len(sizes) > 5
    assert len(seen) == 50_000
    assert all(key in seen for key in met)
    assert not any(key in seen for key in strange)
    assert not any(seen.add(key) for key in met)


@pytest.mark.parametrize("chunk", [1, 7, 1000, 30_000])
def test_many_at_once_are_the_same_as_one_by_one(chunk: int) -> None:
    met = keys(30_000 if chunk > 100 else 500)
    together, alone = SeenFilter(), SeenFilter()
    for start in range(0, len(met), chunk):
        together.add_many(met[start : start + chunk])
    for key in met.tolist():
        alone.add(key)
    assert len(together) == len(alone) == len(met)
    assert all(key in together for key in met.tolist())
    assert not any(together.add(key) for key in met[:100].tolist())


def test_duplicates_in_one_chunk_count_once() -> None:
    seen = SeenFilter()
    seen.add_many(np.repeat(keys(100), 3))
    seen.add_many(np.zeros(0, np.uint64))
    assert len(seen) == 100


def test_the_key_zero_is_a_key_like_others() -> None:
    seen = SeenFilter()
    assert 0 not in seen
    assert seen.add(0)
    assert 0 in seen
    assert not seen.add(0)
    many = SeenFilter()
    many.add_many(np.zeros(1, np.uint64))
    assert 0 in many
    assert len(many) == 1


def test_the_largest_key_is_a_key_like_others() -> None:
    seen = SeenFilter()
    for key in range(2**64 - 20, 2**64):  # all of them at the end of the table
        assert seen.add(key)
    assert all(key in seen for key in range(2**64 - 20, 2**64))
    assert 2**64 - 21 not in seen


def test_keys_of_urls_that_differ_by_a_letter_differ() -> None:
    seen = SeenFilter()
    assert all(seen.add(url_key(f"https://example.org/{number}")) for number in range(20_000))


def test_a_million_urls_take_at_most_sixteen_bytes_each() -> None:
    seen = SeenFilter()
    worst = 0.0
    for chunk in np.array_split(keys(1_000_000), 60):
        seen.add_many(chunk)
        worst = max(worst, seen.bytes / len(seen))
    assert len(seen) == 1_000_000
    assert seen.bytes <= 16 * len(seen)
    assert worst <= 16
