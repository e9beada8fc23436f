"""Fits the weights of main text extraction on pages whose main text is known, and prints them.

The weights are those of `parse/main_text/line_scores.py`.

    cd bench && python -m parsing.fit

A logistic regression over the lines of three sets: articles, documentation, and the half of the passages that
`bench/parse.py` does not hold out. The result is deterministic; paste it into `WEIGHTS`.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import turbohtml
from numpy.typing import NDArray

from harness import web
from harness.report import report
from parsing import truth
from periplus.parse.extraction import Extraction
from periplus.parse.html.outline import Outline
from periplus.parse.main_text.line_scores import RULES, WEIGHTS, Lines
from periplus.parse.main_text.parts import PartMarker

CACHE = Path(__file__).parents[1] / ".cache"
_Numbers = NDArray[np.float64]
_WORD = re.compile(r"\w+")
_RUN = 4  # words
_MOSTLY = 0.5  # of the runs of a line: then it is main text
_LONG = 200  # characters: longer lines weigh no more
_LINES_A_PAGE = 60  # the weight of a page with more lines is limited to this number
_PASSAGE = 4.0  # the weight of a line with a labelled passage; few lines have one
_PENALTY = 1.0  # of large weights
_STEPS = 30


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    parser.add_argument("--cache", type=Path, default=CACHE, help="where downloads live")
    return parser


def bench(options: argparse.Namespace) -> dict[str, Any]:
    cache = options.cache
    texts = [*truth.articles(cache), *truth.documentation(web.prepare(cache, "{name}.test"))]
    fit, _ = truth.halves(truth.passages(cache))
    samples = [
        *(_sample(page, _by_runs(page.text)) for page in texts),
        *(_sample(page, _by_passages(page)) for page in fit),
    ]
    features, labels, weights = (np.concatenate(column) for column in zip(*samples, strict=True))
    found = regression(features, labels, weights)
    return {name: round(float(weight), 2) for name, weight in zip(WEIGHTS, found, strict=True)}


def _sample(page: truth.Marked, label: Callable[[str], float]) -> tuple[_Numbers, _Numbers, _Numbers]:
    """The features, labels and weights of the lines of a page that have a label."""
    document = turbohtml.parse(page.html, positions=False, scripting=True)
    Outline(document, Extraction(""))
    PartMarker().mark(document)
    lines = Lines(*document.to_annotated_text(RULES))
    labels = np.array([label(line) for line in lines.words])
    known = ~np.isnan(labels)
    features = lines.features().T[known] if lines.words else np.zeros((0, len(WEIGHTS)))
    return (
        features,
        labels[known],
        _line_weights(page, [line for line, kept in zip(lines.words, known, strict=True) if kept]),
    )


def _line_weights(page: truth.Marked, lines: Sequence[str]) -> _Numbers:
    if not page.text:
        return np.full(len(lines), _PASSAGE)
    lengths = np.minimum([len(line) for line in lines], _LONG)
    return np.sqrt(lengths / _LONG) * min(1.0, _LINES_A_PAGE / max(len(lines), 1))


def _by_runs(text: str) -> Callable[[str], float]:
    """Label a line 1 if most of its runs of words are in the text, 0 if not, NaN if it is too short to tell."""
    words = _WORD.findall(text)
    runs, all_words = _runs(words), f" {' '.join(words)} "
    whole = {" ".join(_WORD.findall(line)) for line in text.split("\n")}

    def label(line: str) -> float:
        words = _WORD.findall(line)
        if len(words) >= _RUN:
            found = _runs(words)
            return float(len(found & runs) >= _MOSTLY * len(found))
        joined = " ".join(words)
        if joined in whole:
            return 1.0 if words else np.nan
        return np.nan if f" {joined} " in all_words else 0.0

    return label


def _by_passages(page: truth.Marked) -> Callable[[str], float]:
    """Label a line 1 if it contains a passage of the main text, 0 if another labelled passage, else NaN."""
    within, without = ([" ".join(passage.split()) for passage in passages] for passages in (page.within, page.without))

    def label(line: str) -> float:
        words = " ".join(line.split())
        if any(passage in words for passage in within):
            return 1.0
        return 0.0 if any(passage in words for passage in without) else np.nan

    return label


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)}


def regression(features: _Numbers, labels: _Numbers, weights: _Numbers) -> _Numbers:
    """The coefficients of a logistic regression, by Newton's method."""
    found = np.zeros(features.shape[1])
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(-features @ found))
        gradient = features.T @ (weights * (expected - labels)) + _PENALTY * found
        curvature = (features.T * (weights * expected * (1 - expected))) @ features + _PENALTY * np.eye(len(found))
        found -= np.linalg.solve(curvature, gradient)
    return found


if __name__ == "__main__":
    sys.exit(report(arguments().parse_args(), bench))
