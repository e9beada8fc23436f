"""Pairs of terms are counted as a reader would count them."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.made_index import BARE, write_forward
from periplus.index.forward.forward_index import ForwardIndex
from periplus.index.vectors import cooccurrence
from periplus.index.vectors.cooccurrence import NO_TERM, choose_terms, count_pairs, positive_pmi

NAMES = ["ant", "bee", "cow", "dog", "elk", "fox", "gnu"]
PAGES = st.lists(st.tuples(st.lists(st.sampled_from(NAMES), max_size=25), st.lists(st.sampled_from(NAMES))), max_size=8)
Pairs = dict[tuple[str, str], int]


def made(folder: Path, pages: list[tuple[list[str], list[str]]]) -> ForwardIndex:
    return write_forward(folder, [BARE | {"text": " ".join(body), "headings": heads} for body, heads in pages])


def counted(index: ForwardIndex, ranks: list[float] | None = None) -> Pairs:
    of_words = np.arange(len(index.lexicon), dtype=np.uint16)  # every word is a term
    of_words[[0, index.lexicon.number("x") or 0]] = NO_TERM
    pairs, counts = count_pairs(index, np.array(ranks or [1.0] * len(index), np.float32), of_words)
    found = {}
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        one, other = sorted(map(index.lexicon.word, (pair >> 16, pair & 0xFFFF)))
        found[one, other] = count
    return found


def brute_force(pages: list[tuple[list[str], list[str]]]) -> Pairs:
    found: Counter[tuple[str, str]] = Counter()
    for words in (body for body, _ in pages):
        for first, second in combinations(range(len(words)), 2):
            if second - first <= 5 and words[first] != words[second]:
                found[min(words[first], words[second]), max(words[first], words[second])] += 1
    return dict(found)


@settings(max_examples=50, deadline=None)
@given(PAGES, st.sampled_from([1, 3, 2000]), st.sampled_from([1, 10**6]))
def test_pairs_within_five_words_of_one_value_are_counted(
    pages: list[tuple[list[str], list[str]]], at_once: int, pending: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(cooccurrence, "_DOCUMENTS_AT_ONCE", at_once)
        patch.setattr(cooccurrence, "_PENDING", pending)
        assert counted(made(Path(folder), pages)) == brute_force(pages)  # headings of one word have no pairs


def test_only_the_best_pages_are_counted_when_there_are_too_many_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cooccurrence, "_MOST_WORDS", 4)
    index = made(tmp_path, [(["ant", "bee"], []), (["cow", "dog"], []), (["elk", "fox"], [])])
    assert counted(index, [1.0, 3.0, 2.0]) == {("cow", "dog"): 1, ("elk", "fox"): 1}


def test_only_the_start_of_a_text_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "_BODY", 3)
    assert counted(made(tmp_path, [(["x", "ant", "bee", "cow"], [])])) == {("ant", "bee"): 1}


def test_pairs_that_occur_once_are_dropped_when_there_are_too_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cooccurrence, "_MOST_PAIRS", 1)
    index = made(tmp_path, [(["ant", "bee"], []), (["ant", "bee"], []), (["cow", "dog"], [])])
    assert counted(index) == {("ant", "bee"): 2}


def test_the_most_frequent_terms_are_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "MOST_TERMS", 2)
    texts = ["everywhere rare"] * 4 + ["everywhere dogs"] * 4 + ["everywhere dog cat"] * 5 + ["everywhere elk"] * 6
    index = write_forward(tmp_path, [BARE | {"text": text} for text in texts])
    terms = choose_terms(index.lexicon, len(index))
    chosen = [number for number in range(len(index.lexicon)) if terms.of_words[number] != NO_TERM]
    assert sorted(map(index.lexicon.word, chosen)) == ["dog", "dogs", "elk"]
    assert [index.lexicon.word(number) for number in terms.words.tolist()] == ["dog", "elk"]


def test_the_matrix_is_positive_pointwise_mutual_information() -> None:
    found = {(0, 1): 9, (0, 2): 1, (1, 2): 2, (2, 3): 7}
    pairs = np.array([one << 16 | other for one, other in found], np.uint32)
    matrix, transposed = positive_pmi(pairs, np.array(list(found.values()), np.uint32), 5)
    totals = [sum(count for pair, count in found.items() if term in pair) for term in range(5)]
    expected = np.zeros((5, 5))
    for (one, other), count in found.items():
        for term, context in ((one, other), (other, one)):
            share = totals[context] ** 0.75 / sum(total**0.75 for total in totals)
            expected[term, context] = max(math.log(count / (totals[term] * share)), 0)
    assert dense(matrix) == pytest.approx(expected, abs=1e-5)
    assert dense(transposed) == pytest.approx(expected.T, abs=1e-5)


def dense(matrix: cooccurrence.Matrix) -> np.ndarray:
    size = len(matrix.starts) - 1
    found = np.zeros((size, size))
    for row in range(size):
        part = slice(matrix.starts[row], matrix.starts[row + 1])
        found[row, matrix.columns[part]] = matrix.values[part]
    return found
