"""Garbage is collected rarely during long work, and as before afterwards."""

from __future__ import annotations

import gc

import pytest

from periplus.garbage import rare_garbage_collection


def interrupted() -> None:
    with rare_garbage_collection(20_000):
        assert gc.get_threshold()[0] == 20_000
        raise ValueError("stop")


def test_the_threshold_is_restored_even_after_an_error() -> None:
    before = gc.get_threshold()
    with pytest.raises(ValueError, match="stop"):
        interrupted()
    assert gc.get_threshold() == before
