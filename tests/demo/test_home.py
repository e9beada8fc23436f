"""A second start reuses the demo; a folder that is not a demo is left alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from periplus.demo.home import DemoState, collection, documentation, edition_of, locked, read_state, reset, write_state
from periplus.demo.library import Site
from periplus.errors import CollectionError, CollectionLocked

STATE = DemoState("an edition", 8090, ready=False)


def test_a_note_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    write_state(tmp_path, STATE)
    assert read_state(tmp_path) == STATE


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "{}", '{"edition": 1}', '{"strange": 2}'])
def test_a_damaged_note_is_no_note(tmp_path: Path, text: str) -> None:
    (tmp_path / "demo.json").write_text(text, encoding="utf-8")
    assert read_state(tmp_path) is None


def test_beginning_anew_removes_what_a_demo_has_made(tmp_path: Path) -> None:
    write_state(tmp_path, STATE)
    for folder in (documentation(tmp_path), collection(tmp_path)):
        folder.mkdir()
        (folder / "file").touch()
    reset(tmp_path, DemoState("another", 8091, ready=False))
    assert {path.name for path in tmp_path.iterdir()} == {"demo.json"}


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "documentation").mkdir()
    (tmp_path / "documentation" / "thesis.tex").touch()
    with pytest.raises(CollectionError, match="is not a demo folder"):
        reset(tmp_path, STATE)
    assert (tmp_path / "documentation" / "thesis.tex").exists()


def test_a_second_demo_names_the_first_process(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from periplus.demo.home import locked\n"
        "with locked(Path(sys.argv[1])): pass"
    )
    with locked(tmp_path):
        child = subprocess.run([sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=False)
        assert "already running" in child.stderr
    assert subprocess.run([sys.executable, "-c", program, tmp_path], check=False).returncode == 0


def test_a_second_demo_in_the_same_process_is_refused_too(tmp_path: Path) -> None:
    with locked(tmp_path), pytest.raises(CollectionLocked), locked(tmp_path):
        pass


def test_a_place_that_is_no_folder_is_explained(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CollectionError, match="--home"), locked(tmp_path / "file"):
        pass


def test_other_documentation_is_another_edition() -> None:
    one, two = Site("a", "a", {"/index.html": Path("index.html")}), Site("b", "b", {})
    assert edition_of([one]) != edition_of([one, two])
    assert edition_of([one]) == edition_of([one])
