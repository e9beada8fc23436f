"""A build that is killed at any point leaves the last index serving, and the next build gives the same answers."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from crawl.crawling import start, wait
from index.live import live_index, problems_of
from killing import swept
from search.library import Doc, opened, shelve

WORDS = ["harbour", "lighthouse", "reef", "deep water", "coast", "tide", "anchor", "sail", "the", "of"]


def coast(pages: int) -> list[Doc]:
    chance = random.Random(4)
    texts = [" ".join(chance.choices(WORDS, k=60)) for _ in range(pages - 5)]
    return [_doc(f"http://h{n % 7}.test/{n}", texts[n % len(texts)]) for n in range(pages)]


def _doc(url: str, text: str) -> Doc:
    return Doc(url, text[:40], text, body=f"<!doctype html><title>{text[:40]}</title><p>{text}</p>".encode())


def built_after_kills(home: Path, kills: int, program: str) -> dict[str, int]:
    shelve(home, coast(60))
    return swept(Path(__file__).with_name(program), home, kills)


@pytest.mark.slow
@pytest.mark.parametrize("program", ["kills.py", "update_kills.py"])
def test_a_killed_build_changes_nothing_and_the_next_one_gives_the_same_answers(tmp_path: Path, program: str) -> None:
    found = built_after_kills(tmp_path, 12, program)
    assert found["killed"] >= 9
    assert 0 < found["switched"] < 6
    assert (found["differing"], found["leftovers"]) == (0, 0)


@pytest.mark.long
@pytest.mark.parametrize("program", ["kills.py", "update_kills.py"])
def test_five_hundred_kills_change_nothing_either(tmp_path: Path, program: str) -> None:
    found = built_after_kills(tmp_path, 500, program)
    assert (found["differing"], found["leftovers"]) == (0, 0)


@pytest.mark.slow
def test_the_command_may_be_killed_at_any_time(tmp_path: Path) -> None:
    collection = shelve(tmp_path, coast(300))
    documents = wait(start("index", "--home", tmp_path, "--json")).json["documents"]
    with opened(collection) as engine:
        expected = [hit.url for hit in engine.search("harbour reef", size=50).hits]
    chance = random.Random(8)
    for _ in range(4):
        child = start("index", "--full", "--home", tmp_path)
        time.sleep(0.5 + chance.random())
        child.kill()
        wait(child)
        live = live_index(collection)
        assert problems_of(live) == []
        with opened(collection) as engine:
            assert engine.documents == documents
            assert [hit.url for hit in engine.search("harbour reef", size=50).hits] == expected
    done = wait(start("index", "--home", tmp_path, "--json"))
    assert done.json["documents"] == documents
