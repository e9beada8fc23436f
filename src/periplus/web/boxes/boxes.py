"""Which box does the result page show?

The makers of boxes run beside the search. The first of them, in their order, that has a box wins. When the search is
done, a maker that is not ready gets a short grace, and is then left out; so a box never delays a page by more.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple

from periplus.web.boxes.box import Box, BoxMaker, Question

GRACE = 0.05  # seconds that a page waits for a box after the search
DEADLINE = 1.0  # seconds for a maker
NOT_STORED = {"cache-control": "private, no-store"}
_LONGEST_QUERY = 200  # characters
_OPERATOR = re.compile(
    r'"[^"]+"|(?:^|\s)-[^\W\d]|\b(?:site|intitle|inurl|filetype|lang|before|after):\S|(?:^|\s)(?:OR|AND)(?:\s|$)'
)
_log = logging.getLogger(__name__)


class Found(NamedTuple):
    """The box of a page, if any."""

    box: Box | None = None
    is_final: bool = True  # False: the same search may have another box soon, so the page must not be stored

    @property
    def is_storable(self) -> bool:
        """Whether the page may be stored as long as its results."""
        return self.is_final and (self.box is None or self.box.lifetime is None)


class Answer:
    """What `Boxes.beside` found: the box, and the headers of a page that shows it."""

    def __init__(self) -> None:
        self.box: Box | None = None
        self.headers: Mapping[str, str] = {}
        self.is_late = False  # the makers were stopped; a script may ask again

    def take(self, found: Found) -> None:
        """Takes the box; a page that may have another box soon is not stored."""
        self.box = found.box
        if not found.is_storable:
            self.headers = NOT_STORED


class Unavailable(Exception):  # noqa: N818  # not an error of the site
    """A maker knows what the search asks for, and does not have it now."""


class Boxes:
    """All makers of boxes, in the order of their preference."""

    def __init__(self, makers: Sequence[BoxMaker], deadline: float = DEADLINE, grace: float = GRACE) -> None:
        """*deadline* and *grace* in seconds."""
        self._makers, self._deadline, self._grace = makers, deadline, grace

    @asynccontextmanager
    async def beside(self, question: Question | None) -> AsyncIterator[Answer]:
        """Runs the makers beside the body; when the body is done, the answer has their box, if it is ready.

        None asks for no box.
        """
        answer = Answer()
        if question is None or not self._makers:
            yield answer
            return
        task = asyncio.create_task(self.find(question))
        try:
            yield answer
            done, _ = await asyncio.wait({task}, timeout=self._grace)
            answer.is_late = not done
            answer.take(task.result() if done else Found(is_final=False))
        finally:
            task.cancel()

    async def find(self, question: Question) -> Found:
        """The box of the first maker that has one."""
        if len(question.query) > _LONGEST_QUERY or has_operators(question.query):
            return Found()
        tried = await asyncio.gather(*(self._make(maker, question) for maker in self._makers))
        is_final = all(found.is_final for found in tried)
        return next((found for found in tried if found.box), Found(is_final=is_final))

    async def _make(self, maker: BoxMaker, question: Question) -> Found:
        try:
            async with asyncio.timeout(self._deadline):
                return Found(await maker.make(question))
        except (Unavailable, TimeoutError):
            return Found(is_final=False)
        except Exception:
            _log.exception("the box %s failed", maker.name)
            return Found(is_final=False)


def has_operators(query: str) -> bool:
    """Whether the query has an operator of the query language: such a query asks for pages."""
    return _OPERATOR.search(query) is not None
