"""Scores the quality of a page, and completes a page with what follows from its text.

`assess` adds seven weighted signals, each from 0 to 1. `Quality` keeps the share of every signal by name, so that the
score can be explained. `PageFinisher` adds language, simhash and quality, and rejects pages in unwanted languages.
"""

from __future__ import annotations

from collections.abc import Collection
from math import log

from periplus.model import Page, Quality, Reason
from periplus.parse.extraction import Extraction
from periplus.text.simhash import simhash

_WEIGHTS = Quality(length=0.25, share=0.1, markup=0.1, links=0.15, language=0.15, lines=0.15, title=0.1)
_ENOUGH = 2_000  # characters of main text: about 300 words
_TOO_LITTLE = 50
_GOOD_SHARE = 0.5  # share of main text in the visible text
_GOOD_MARKUP = 0.15  # characters of text per byte of the document
_MOSTLY_LINKS = 0.8  # share of link text in the visible text


def assess(page: Page, *, size: int, linked: float = 0.0) -> Quality:
    """The quality of a page of *size* bytes with the share *linked* of link text; 0 for a page without text."""
    if not page.text:
        return Quality()
    length = sum(end - start for start, end in page.main) or len(page.text)
    signals = Quality(
        length=log(max(length, _TOO_LITTLE) / _TOO_LITTLE) / log(_ENOUGH / _TOO_LITTLE),
        share=length / len(page.text) / _GOOD_SHARE,
        markup=len(page.text) / max(size, 1) / _GOOD_MARKUP,
        links=1 - linked / _MOSTLY_LINKS,
        language=page.language_certainty,
        lines=_share_of_distinct_lines(page.text),
        title=1.0 if page.title else 0.0,
    )
    return Quality._make(
        round(weight * min(max(signal, 0.0), 1.0), 4) for weight, signal in zip(_WEIGHTS, signals, strict=True)
    )


def _share_of_distinct_lines(text: str) -> float:
    """The share of the text that is left when repeated lines are removed."""
    lines = text.split("\n")
    return sum(map(len, set(lines))) / max(sum(map(len, lines)), 1)


_ENOUGH_TEXT = 200  # characters: with so much main text, detection ignores the other text
_CERTAIN = 0.7  # a page with a less certain language is not rejected


class PageFinisher:
    """Adds language, simhash and quality to the pages of one crawl."""

    def __init__(self, languages: Collection[str]) -> None:
        """*languages*: the codes of the languages to index; empty: all."""
        self._languages = frozenset(languages)

    def finish(self, page: Page, extraction: Extraction, *, size: int, linked: float = 0.0) -> Page:
        """Complete a page of *size* bytes, whose `language` is still the declared one."""
        from periplus.parse import language as detector  # noqa: PLC0415  # its tables load slowly, and a quick parse needs none

        words = page.main_text
        sample = words if len(words) >= _ENOUGH_TEXT else page.text
        language = extraction.run("language", detector.Language(), detector.detect, sample, page.language)
        unwanted = bool(self._languages) and language.code not in self._languages and language.certainty >= _CERTAIN
        found = page._replace(
            language=language.code,
            language_certainty=language.certainty,
            signature=extraction.run("signature", 0, simhash, words),
            noindex=page.noindex or unwanted,
            problem=Reason.OTHER_LANGUAGE if unwanted else page.problem,
            problem_detail=f"language: {language.code}" if unwanted else page.problem_detail,
        )
        quality = extraction.run("quality", Quality(), assess, found, size=size, linked=linked)
        return found._replace(quality=quality, failed_extractors=extraction.failed_extractors)
