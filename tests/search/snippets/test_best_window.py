"""The best window of a page is found without its text, and its place in the text is known well enough."""

# ruff: noqa: RUF001 - letters of other alphabets that look like Latin ones

from __future__ import annotations

from pathlib import Path

import pytest

from periplus.index.forward.forward_index import ForwardIndex
from periplus.search.snippets.best_window import Window, best_windows
from periplus.search.snippets.word_forms import WordForms
from search.library import Doc, index, shelve

PROSE = "it is told that the ships of the town came to the quay in the night and that they left with the tide. " * 20
MENU = "reef lighthouse " + " ".join(f"item{number}" for number in range(40))


def made(home: Path, *texts: str, language: str = "en") -> ForwardIndex:
    docs = [Doc(f"http://a.test/{number}", "", text, language=language) for number, text in enumerate(texts)]
    collection = shelve(home, docs)
    index(collection)
    (folder,) = collection.index.glob("gen-*")
    return ForwardIndex(folder)


@pytest.mark.parametrize("language", ["en", "ru"])
def test_the_place_of_the_window_is_estimated(tmp_path: Path, language: str) -> None:
    filler = (
        PROSE if language == "en" else "и сказано что корабли города пришли к причалу ночью и ушли с приливом. " * 30
    )
    text = f"reef {filler}{filler} lighthouse on the reef {filler}"
    forward = made(tmp_path, text, language=language)
    forms = WordForms(["reef", "lighthouse"], language, forward)
    (window,) = best_windows([0], forms, forward)
    assert abs(window.offset - len(text[: text.index("lighthouse")].encode())) < 400
    assert window.weight == pytest.approx(forms.total)


def test_every_page_has_its_own_window(tmp_path: Path) -> None:
    forward = made(tmp_path, f"reef {PROSE}", PROSE, f"{PROSE} reef", "")
    windows = best_windows([2, 0, 1, 3], WordForms(["reef"], "en", forward), forward)
    assert windows[2] == windows[3] == Window(0, 0.0)
    assert windows[1].offset == 0
    assert abs(windows[0].offset - len(PROSE)) < 200
    assert best_windows([], WordForms(["reef"], "en", forward), forward) == []


def test_a_window_ends_with_its_page(tmp_path: Path) -> None:
    forward = made(tmp_path, "the reef", "the lighthouse")
    forms = WordForms(["reef", "lighthouse"], "en", forward)
    assert [window.weight < forms.total for window in best_windows([0, 1], forms, forward)] == [True, True]


def test_prose_counts_more_than_a_menu(tmp_path: Path) -> None:
    frequent = " ".join(f"word{number}" for number in range(150)) + " a on and was it the that stood"
    text = f"{MENU}\n{PROSE} a lighthouse stood on the reef and it was that {PROSE}"
    forward = made(tmp_path, text, f"{frequent} " * 10)
    (window,) = best_windows([0], WordForms(["reef", "lighthouse"], "en", forward), forward)
    assert window.offset > len(MENU) + len(PROSE) // 2
