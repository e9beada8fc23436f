"""A page has at most one box, and never waits long for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from periplus.web.boxes.box import Box, Question
from periplus.web.boxes.boxes import Answer, Boxes, Found, Unavailable, has_operators

ASKED = Question("weather boston")
FOREVER = 3_600.0  # seconds


class Maker:
    """Makes what a test gives it."""

    def __init__(self, name: str, given: Callable[[Question], Awaitable[Box | None]]) -> None:
        self.name, self._given = name, given

    async def make(self, question: Question) -> Box | None:
        """What the test gives."""
        return await self._given(question)


def gives(name: str, lifetime: float | None = None) -> Maker:
    async def make(question: Question) -> Box | None:
        return Box(name, {"query": question.query}, lifetime)

    return Maker(name, make)


def fails(error: Exception) -> Maker:
    async def make(question: Question) -> Box | None:
        raise error

    return Maker("failing", make)


async def _nothing(question: Question) -> Box | None:
    return None


async def _never(question: Question) -> Box | None:
    await asyncio.sleep(FOREVER)
    return None


NOTHING, NEVER = Maker("nothing", _nothing), Maker("never", _never)


def find(*makers: Maker, query: str = ASKED.query, deadline: float = 1.0) -> Found:
    return asyncio.run(Boxes(makers, deadline).find(Question(query)))


def beside(*makers: Maker, question: Question | None = ASKED, grace: float = 1.0) -> Answer:
    async def run() -> Answer:
        async with Boxes(makers, grace=grace).beside(question) as answer:
            await asyncio.sleep(0)
        return answer

    return asyncio.run(run())


def test_the_first_maker_with_a_box_wins() -> None:
    box = find(NOTHING, gives("time"), gives("weather")).box
    assert box is not None
    assert box.template == "time"


def test_most_searches_have_no_box_and_are_stored() -> None:
    assert find(NOTHING) == find() == Found(None, is_final=True)
    assert beside(NOTHING).headers == {}


@pytest.mark.parametrize(
    "query",
    ['"boston"', "boston site:example.org", "weather -boston", "-site:a.example boston", "boston OR paris", "a" * 201],
)
def test_a_query_with_operators_or_a_very_long_one_has_no_box(query: str) -> None:
    assert find(gives("time"), query=query).box is None


@pytest.mark.parametrize("query", ["5 - 3", "(2+3)*4", '12" in cm', "boston", "2 -3", "at 10:30", "and", "-5 + 3"])
def test_sums_and_words_are_no_operators(query: str) -> None:
    assert not has_operators(query)


def test_a_late_maker_is_left_out_after_its_deadline() -> None:
    assert find(NEVER, gives("time"), deadline=0.01).box is not None
    assert find(NEVER, deadline=0.01) == Found(None, is_final=False)


def test_a_page_without_its_late_box_is_not_stored() -> None:
    answer = beside(NEVER, grace=0.01)
    assert (answer.box, answer.is_late) == (None, True)
    assert answer.headers == {"cache-control": "private, no-store"}


def test_a_page_with_a_box_that_ages_is_not_stored() -> None:
    assert beside(gives("weather", 900.0)).headers == {"cache-control": "private, no-store"}
    assert beside(gives("calculator")).headers == {}


def test_a_failure_leaves_the_box_out_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        found = find(fails(ZeroDivisionError()), gives("time"))
    assert found.box is not None
    assert "failing" in caplog.text


def test_what_is_unavailable_now_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    assert find(fails(Unavailable("boston"))) == Found(None, is_final=False)
    assert not caplog.records


def test_no_question_asks_no_maker() -> None:
    answer = beside(fails(AssertionError()), question=None)
    assert (answer.box, answer.headers) == (None, {})


def test_a_failing_search_stops_the_makers() -> None:
    started, stopped = asyncio.Event(), asyncio.Event()

    async def waits(question: Question) -> Box | None:
        started.set()
        try:
            await asyncio.sleep(FOREVER)
        finally:
            stopped.set()
        return None

    async def run() -> None:
        with pytest.raises(ZeroDivisionError):
            await fails_beside(Boxes([Maker("waits", waits)]))
        await asyncio.wait_for(stopped.wait(), 5)

    async def fails_beside(boxes: Boxes) -> None:
        async with boxes.beside(ASKED):
            await started.wait()
            raise ZeroDivisionError

    asyncio.run(run())
