"""What follows from the words of a page, whatever it was written in?

Its language, its signature, its quality; and whether it is wanted at all.
"""

from __future__ import annotations

from collections.abc import Collection

from periplus.model import Page, Quality, Reason
from periplus.parse.extraction import Extraction
from periplus.parse.quality import assess
from periplus.text.simhash import signature

_ENOUGH = 200  # characters of main text that tell the language better than all text does
_CERTAIN = 0.7  # a page whose language cannot be told is not refused for it


class Finisher:
    """Finishes the pages of one crawl."""

    def __init__(self, languages: Collection[str]) -> None:
        """*languages*: those wanted; all, when there are none."""
        self._languages = frozenset(languages)

    def finish(self, page: Page, extraction: Extraction, *, size: int, linked: float = 0.0) -> Page:
        """The page with what its words tell; its language is so far the one it declares, *size* is in bytes."""
        from periplus.parse import language as detector  # noqa: PLC0415  # its tables take time to load, and skimming needs none

        words = page.main_text
        sample = words if len(words) >= _ENOUGH else page.text
        language = extraction.run("language", detector.Language(), detector.detect, sample, page.language)
        unwanted = bool(self._languages) and language.code not in self._languages and language.certainty >= _CERTAIN
        found = page._replace(
            language=language.code,
            language_certainty=language.certainty,
            signature=extraction.run("signature", 0, signature, words),
            noindex=page.noindex or unwanted,
            problem=Reason.OTHER_LANGUAGE if unwanted else page.problem,
            problem_detail=f"it is written in {language.code!r}" if unwanted else page.problem_detail,
        )
        quality = extraction.run("quality", Quality(), assess, found, size=size, linked=linked)
        return found._replace(quality=quality, failed_extractors=extraction.failed_extractors)
