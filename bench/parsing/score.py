"""Scores extracted main text: precision, recall and F1.

The scores follow the authors of the two labelled sets. Articles are compared by shared runs of four words, averaged
over pages. Passages are counted over all pages: those that must be found, and those that must not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from statistics import mean

from parsing.truth import Marked

_WORD = re.compile(r"\w+")
_RUN = 4


def score(pages: Sequence[Marked], found: Sequence[str]) -> dict[str, float]:
    """F1, precision and recall of what was found on these pages, all marked the same way."""
    precision, recall = _by_words(pages, found) if pages[0].text else _by_passages(pages, found)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return {"f1": round(f1, 4), "precision": round(precision, 4), "recall": round(recall, 4), "pages": len(pages)}


def _by_words(pages: Sequence[Marked], found: Sequence[str]) -> tuple[float, float]:
    precisions, recalls = [], []
    for page, text in zip(pages, found, strict=True):
        true, told = _runs(page.text), _runs(text)
        shared = (true & told).total()
        if told:
            precisions.append(shared / told.total())
        if true:
            recalls.append(shared / true.total())
    return mean(precisions), mean(recalls)


def _by_passages(pages: Sequence[Marked], found: Sequence[str]) -> tuple[float, float]:
    right = wrong = missed = 0
    for page, text in zip(pages, found, strict=True):
        words = " ".join(text.split())
        hits = sum(" ".join(passage.split()) in words for passage in page.within)
        right += hits
        missed += len(page.within) - hits
        wrong += sum(" ".join(passage.split()) in words for passage in page.without)
    return right / max(right + wrong, 1), right / max(right + missed, 1)


def _runs(text: str) -> Counter[tuple[str, ...]]:
    words = _WORD.findall(text)
    return Counter(tuple(words[start : start + _RUN]) for start in range(max(1, len(words) - _RUN + 1)) if words)
