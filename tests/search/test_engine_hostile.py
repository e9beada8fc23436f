"""No query takes long or crashes the process, whatever the pages contain."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as trying
from hypothesis import strategies as st

from periplus.model import Results
from periplus.search.engine import SearchEngine
from periplus.search.interpret import Mode
from search.hostile_queries import PARTS, SHAPES
from search.library import Doc, library
from shared_data import shared

LIMIT = 0.2 * 3  # seconds of CPU: what is promised, and room for a loaded machine


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    """Pages that are as bad as the limits of parsing let them be: every field full of the same short words."""
    docs = [
        Doc(
            f"http://h{number % 3}.test/{'a/' * 500}{number}",
            "a b " * 250,
            "a " * 10_000 + "b c " * 3_000 + f"OR AND site {number}",
            description="b " * 1_000,
            keywords="c " * 500,
            headings=("a b c " * 50,) * 64,
            language="en" if number % 2 else "xx",
        )
        for number in range(20)
    ]
    with library(tmp_path_factory.mktemp("hostile"), docs) as found:
        found.search("warm up")
        yield found


def answered(engine: SearchEngine, query: str, mode: str = "auto") -> Results:
    started = time.process_time()
    results = engine.search(query, mode=mode, explain=True)
    assert time.process_time() - started < LIMIT
    assert results.hits or results.hints or results.understood
    return results


@pytest.mark.parametrize("mode", Mode)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_hostile_query_gets_an_answer_or_a_hint(engine: SearchEngine, shape: str, mode: Mode) -> None:
    results = answered(engine, SHAPES[shape], mode)
    assert results.hits or results.hints


WORST = {
    "one letter": "a",
    "two letters": "b c",
    "sixty-four words": "a b c d " * 16,
    "a long phrase": '"' + "b c " * 32 + '"',
    "one letter in a row": ".".join("c" * 64),
    "many phrases": '"a b" ' * 32,
    "many alternatives": " OR ".join(["a", "b", '"b c"', "c"] * 14),
    "many exclusions": "a " + "-b -(c OR x) " * 20,
    "every letter": " ".join("abcdefghijklmnopqrstuvwxyz0123456789"),
    "nested to the limit": "(a OR -(b " * 8 + "c" + "))" * 8,
    "operators": 'a intitle:"a b" -intitle:c inurl:a -filetype:pdf lang:en after:2000 before:2030 site:h1.test/a/a',
    "required words": "+a +b +(c OR +a) " * 12,
    "as written": "c++ a.b -Wall [a b] _c " * 12,
    "sites": "a " + " OR ".join(f"site:h{number}.test" for number in range(20)),
}


@pytest.mark.parametrize("mode", [Mode.AND, Mode.OR])
@pytest.mark.parametrize("query", WORST)
def test_the_worst_queries_meet_the_worst_pages(engine: SearchEngine, query: str, mode: Mode) -> None:
    answered(engine, WORST[query], mode)


@pytest.mark.slow
def test_every_naughty_string_gets_an_answer_or_a_hint(engine: SearchEngine) -> None:
    texts: list[str] = json.loads(shared("hostile/naughty_strings.json").read_text(encoding="utf-8"))
    for text in texts:
        results = answered(engine, text)
        assert json.loads(json.dumps(results.understood, ensure_ascii=False).encode()) == results.understood


def test_half_a_character_is_neither_sought_nor_shown(engine: SearchEngine) -> None:
    results = engine.search("a \udcff\ud800")
    assert results.query == "a ??"
    assert results.query.encode()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SearchEngine]:
    docs = [
        Doc(f"http://{word}.test/", word, f"the {word} of a C++ page", language=word) for word in ("en", "de", "zh")
    ]
    with library(tmp_path_factory.mktemp("plain"), docs) as found:
        yield found


@pytest.mark.slow
def test_two_thousand_random_queries_get_an_answer_each_in_time(plain: SearchEngine) -> None:
    chance = random.Random(3)
    for _ in range(2_000):
        query = "".join(chance.choices(PARTS, k=chance.randrange(1, 20)))
        answered(plain, query, chance.choice([*Mode]))


@trying(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=200), st.sampled_from(Mode))
def test_any_text_gets_an_answer(engine: SearchEngine, query: str, mode: Mode) -> None:
    answered(engine, query, mode) if query.strip() else engine.search(query)


def test_the_last_page_of_the_longest_list_is_not_slow(engine: SearchEngine) -> None:
    started = time.process_time()
    engine.search("a", page=100, size=100)
    assert time.process_time() - started < LIMIT
