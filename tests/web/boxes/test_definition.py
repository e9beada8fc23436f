"""A question for the meaning of a word is answered with a sentence of a page that defines it, and its source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from periplus.model import FullText
from periplus.web.boxes.box import Box
from periplus.web.boxes.boxes import Unavailable
from periplus.web.boxes.definition import Definition
from search.library import Doc, library
from web.boxes.judged import made, rows
from web.engines import FakeEngine

MUTEX = FullText(
    "http://a.example/mutex",
    "a.example",
    "Mutex - Threads",
    "en",
    "Mutex\nA mutex is a lock that only one thread can hold. Others wait until it is free.",
)
NEWS = FullText("http://b.example/", "b.example", "News", "en", "The mutex is the only change.\nMutexes are nice.")


async def at_once(work: Callable[[], Box | None]) -> Box | None:
    return work()


def defined(query: str, *pages: FullText) -> Box | None:
    return made(Definition(FakeEngine(texts=pages or (NEWS, MUTEX)), at_once), query)


@pytest.mark.parametrize(
    "query",
    [
        "define mutex",
        "what is a mutex",
        "What is a mutex?",
        "what's a mutex",
        "what are mutexes",
        "what does mutex mean",
        "mutex definition",
        "mutex meaning",
        "meaning of mutex",
        "definition of mutex",
        "what is a mutex in threads",
    ],
)
def test_a_definition_is_shown_with_its_source(query: str) -> None:
    box = defined(query)
    assert box is not None
    assert box.values["sentence"].startswith("A mutex is a lock that only one thread can hold.")
    assert (box.values["title"], box.values["link"], box.values["host"]) == (MUTEX.title, MUTEX.url, MUTEX.host)


@pytest.mark.parametrize(
    "query",
    [
        "mutex",
        "mutex example",
        "how does a mutex work",
        "what is",
        "define",
        "what is 2+2",
        "what is the difference between a mutex and a semaphore",
        "define " + "a" * 100,
        'what is a "mutex"',
        "what is site:a.example",
    ],
)
def test_other_searches_cost_no_search(query: str) -> None:
    engine = FakeEngine(texts=(MUTEX,))
    assert made(Definition(engine, at_once), query) is None
    assert engine.asked == []


def test_no_box_is_better_than_a_wrong_one() -> None:
    assert defined("what is a mutex", NEWS) is None


def test_the_word_is_defined_in_the_language_of_the_question() -> None:
    german = FullText(
        "http://c.example/", "c.example", "Mutex", "de", "Ein Mutex ist eine Sperre für genau einen Thread."
    )
    english, other = defined("what is a mutex", german, MUTEX), defined("was ist ein Mutex", MUTEX, german)
    assert english is not None
    assert other is not None
    assert (english.values["link"], other.values["link"]) == (MUTEX.url, german.url)
    assert defined("was ist ein Mutex", MUTEX) is None


@pytest.mark.parametrize(
    ("query", "language", "sentence"),
    [
        ("qu'est-ce qu'un verrou", "fr", "Un verrou est un objet qui protège des données."),
        ("qué es un candado", "es", "Un candado es un objeto que protege los datos."),
    ],
)
def test_other_languages_are_understood(query: str, language: str, sentence: str) -> None:
    title = query.rsplit(" ", 1)[1]
    box = defined(query, FullText("http://d.example/", "d.example", title, language, sentence))
    assert box is not None
    assert box.values["sentence"] == sentence


def test_the_second_search_looks_for_the_phrase_only_when_needed() -> None:
    found, missed = FakeEngine(texts=(MUTEX,)), FakeEngine(texts=(NEWS,))
    made(Definition(found, at_once), "what is a mutex")
    made(Definition(missed, at_once), "what is a mutex in c")
    assert found.asked == [{"texts": "mutex", "most": 15}]
    phrases = '("mutex is a" OR "mutex is an") c'
    assert [call["texts"] for call in missed.asked] == ["mutex c", phrases]


def test_a_link_that_is_no_web_address_is_left_out() -> None:
    odd = FullText("javascript:alert(1)", "x", "Mutex", "en", MUTEX.text)
    box = defined("define mutex", odd)
    assert box is not None
    assert box.values["link"] == ""


def test_a_page_of_a_real_index_defines_a_word(tmp_path: Path) -> None:
    filler = [
        Doc(f"http://a.test/{number}", "Tides", f"tides and harbours of the coast {number}") for number in range(5)
    ]
    page = Doc(
        "http://a.test/keel", "Keel", "A keel is a long beam along the bottom of a ship. It keeps the ship upright."
    )
    with library(tmp_path, [*filler, page]) as engine:
        box = made(Definition(engine, at_once), "what is a keel")
    assert box is not None
    assert box.values["link"] == page.url
    assert box.values["sentence"].startswith("A keel is a long beam")


LANGUAGES = {"Was ist Ebbe": "de", "Le phare": "fr", "El faro": "es"}


def ships() -> Iterator[Doc]:
    """The pages that the judged questions are about: some define words, and the others only use them."""
    lines = (Path(__file__).parent / "definition_pages.txt").read_text(encoding="utf-8").splitlines()[1:]
    for number, line in enumerate(lines):
        title, *blocks = line.split(" | ")
        yield Doc(f"http://ships.test/{number}", title, "\n".join(blocks), language=LANGUAGES.get(title, "en"))


def test_nine_of_ten_answers_to_a_hundred_questions_are_right(tmp_path: Path) -> None:
    listed = rows("definition_queries.tsv")
    with library(tmp_path, ships()) as engine:
        maker = Definition(engine, at_once)
        boxes = {query: made(maker, query) for query, _ in listed}
    given = {query: str(box.values["title"]) for query, box in boxes.items() if box is not None}
    wrong = {
        query: given[query]
        for query, title in listed
        if query in given and not (title and given[query].startswith(title))
    }
    missed = [query for query, title in listed if title and query not in given]
    assert len(listed) >= 100
    assert len(wrong) <= 0.1 * len(given), wrong
    assert len(missed) <= 0.15 * len(given), missed


def test_while_a_shard_is_missing_another_definition_may_follow() -> None:
    silent = {"best_texts": (2,)}
    box = made(Definition(FakeEngine(texts=(MUTEX,), silent=silent), at_once), "what is a mutex")
    assert box is not None
    assert box.lifetime == 0.0  # the page is not stored
    with pytest.raises(Unavailable):
        made(Definition(FakeEngine(texts=(NEWS,), silent=silent), at_once), "what is a keel")
