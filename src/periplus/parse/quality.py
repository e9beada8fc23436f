"""How good does a page look, before anybody has searched for it?

Seven clues, each from 0 to 1 and each with its weight. What a clue contributes is kept by its name, so that the score
of a page can be explained by adding up.

What follows from the words of a page, whatever it was written in?

Its language, its signature, its quality; and whether it is wanted at all.
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
_GOOD_SHARE = 0.5  # of the visible text is main text
_GOOD_MARKUP = 0.15  # characters of text for each byte of the document
_MOSTLY_LINKS = 0.8  # of the visible text


def assess(page: Page, *, size: int, linked: float = 0.0) -> Quality:
    """The quality of a page of *size* bytes, of whose text the share *linked* is links; 0 for one without text."""
    if not page.text:
        return Quality()
    length = sum(end - start for start, end in page.main) or len(page.text)
    clues = Quality(
        length=log(max(length, _TOO_LITTLE) / _TOO_LITTLE) / log(_ENOUGH / _TOO_LITTLE),
        share=length / len(page.text) / _GOOD_SHARE,
        markup=len(page.text) / max(size, 1) / _GOOD_MARKUP,
        links=1 - linked / _MOSTLY_LINKS,
        language=page.language_certainty,
        lines=_share_of_new_lines(page.text),
        title=1.0 if page.title else 0.0,
    )
    return Quality._make(
        round(weight * min(max(clue, 0.0), 1.0), 4) for weight, clue in zip(_WEIGHTS, clues, strict=True)
    )


def _share_of_new_lines(text: str) -> float:
    """How much of a text remains when every line is read only once."""
    lines = text.split("\n")
    return sum(map(len, set(lines))) / max(sum(map(len, lines)), 1)


_ENOUGH_TEXT = 200  # characters of main text that tell the language better than all text does
_CERTAIN = 0.7  # a page whose language cannot be told is not refused for it


class PageFinisher:
    """Finishes the pages of one crawl."""

    def __init__(self, languages: Collection[str]) -> None:
        """*languages*: those wanted; all, when there are none."""
        self._languages = frozenset(languages)

    def finish(self, page: Page, extraction: Extraction, *, size: int, linked: float = 0.0) -> Page:
        """The page with what its words tell; its language is so far the one it declares, *size* is in bytes."""
        from periplus.parse import language as detector  # noqa: PLC0415  # its tables take time to load, and skimming needs none

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
            problem_detail=f"it is written in {language.code!r}" if unwanted else page.problem_detail,
        )
        quality = extraction.run("quality", Quality(), assess, found, size=size, linked=linked)
        return found._replace(quality=quality, failed_extractors=extraction.failed_extractors)
