"""BM25 prefers rare words, repeated words and short pages, and a field is compared with the pages that have it."""

from __future__ import annotations

import numpy as np
import pytest

from periplus.text.bm25 import idf, saturation


def test_a_rare_word_weighs_more_and_none_weighs_less_than_nothing() -> None:
    weights = [idf(documents, 1000) for documents in (1, 10, 500, 1000)]
    assert weights == sorted(weights, reverse=True)
    assert weights[0] == pytest.approx(6.50, abs=0.01)
    assert weights[-1] > 0


def test_repetition_saturates_and_long_pages_weigh_less() -> None:
    counts, lengths = np.array([0, 1, 2, 1000]), np.full(4, 100)
    found = saturation(counts, lengths, 100.0)
    assert found.tolist() == pytest.approx([0, 1.0, 1.375, 2.197], abs=0.001)
    short, long = saturation(np.array([1, 1]), np.array([50, 500]), 100.0)
    assert short > found[1] > long
