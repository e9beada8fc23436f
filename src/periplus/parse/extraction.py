"""What if one field of a page cannot be extracted?

The page goes without that field. Every optional extractor runs through an `Extraction`: an exception costs the value
of that extractor only. The names of the extractors that failed travel with the page (`Page.failed_extractors`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import ParamSpec, TypeVar

logger = logging.getLogger("periplus.parse")

_Arguments = ParamSpec("_Arguments")
_Value = TypeVar("_Value")


class Extraction:
    """Runs the extractors of one page, and records the names of those that raise."""

    __slots__ = ("_failed", "_url")

    def __init__(self, url: str) -> None:
        self._url = url
        self._failed: dict[str, None] = {}  # in order, each once

    @property
    def failed_extractors(self) -> tuple[str, ...]:
        """The names of the extractors that raised so far."""
        return tuple(self._failed)

    def run(
        self,
        name: str,
        empty: _Value,
        extract: Callable[_Arguments, _Value],
        *arguments: _Arguments.args,
        **options: _Arguments.kwargs,
    ) -> _Value:
        """The value that *extract* returns, or *empty* when it raises."""
        try:
            return extract(*arguments, **options)
        except Exception as error:
            self.failed(name, error)
            return empty

    def failed(self, name: str, error: Exception) -> None:
        """Record an extractor that raised; re-raises a MemoryError, which is no fault of the extractor."""
        if isinstance(error, MemoryError):
            raise error
        if name not in self._failed:
            logger.info("extracting the %s of %s failed", name, self._url, exc_info=error)
        self._failed[name] = None
