"""The Python documentation is rendered completely or not at all; a child process that fails costs some pages only."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from demo.shared_demo import SECRET, Demo
from periplus.demo import renderer as rendering
from periplus.demo.home import documentation
from periplus.demo.renderer import write_python_pages
from periplus.errors import PeriplusError


@pytest.fixture
def folder(demo: Demo) -> Path:
    """The pages, written while a secret was in the environment."""
    return documentation(demo.home)


@pytest.mark.slow
def test_there_is_a_page_for_hundreds_of_modules_and_chapters(folder: Path) -> None:
    assert len(list((folder / "library").glob("*.html"))) > 250
    assert (folder / "library" / "json.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert "<title>bisect: Bisection algorithms</title>" in (folder / "library" / "bisect.html").read_text("utf-8")


@pytest.mark.slow
def test_every_page_can_be_reached_and_every_link_leads_somewhere(folder: Path) -> None:
    reached: set[Path] = set()
    waiting = [(folder / "index.html").resolve()]
    missing: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for target in re.findall(r'href="(?!https?:|#|ftp:)([^"#]+)', path.read_text(encoding="utf-8")):
            there = (path.parent / target).resolve()
            there = there / "index.html" if there.is_dir() else there
            (waiting.append if there.is_file() else missing.add)(there)
    assert missing == set()
    assert reached == {path.resolve() for path in folder.rglob("*.html")}


@pytest.mark.slow
def test_it_tells_nothing_about_the_environment(folder: Path) -> None:
    assert [path for path in folder.rglob("*.html") if SECRET.encode() in path.read_bytes()] == []


def test_progress_counts_the_pages_of_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def child(folder: Path, share: int, follow: Callable[[int, Iterator[str]], None]) -> Iterator[threading.Thread]:
        (folder / "library" / f"module{share}.html").touch()
        thread = threading.Thread(target=follow, args=(share, iter(["3", "one", "two", "three"])))
        thread.start()
        yield thread

    monkeypatch.setattr(rendering, "_child", child)
    monkeypatch.setattr(rendering, "_SHARES", 2)
    progress: list[tuple[int, int]] = []
    write_python_pages(tmp_path / "pages", lambda done, total: progress.append((done, total)))
    assert [done for done, _ in progress] == [1, 2, 3, 4, 5, 6]
    assert progress[-1] == (6, 6)


@pytest.mark.long
def test_progress_counts_to_the_end(tmp_path: Path) -> None:
    progress: list[tuple[int, int]] = []
    write_python_pages(tmp_path / "pages", lambda done, total: progress.append((done, total)))
    assert [done for done, _ in progress] == list(range(1, len(progress) + 1))
    done, total = progress[-1]
    assert total - 20 <= done <= total  # modules that cannot be imported here are not written


def test_a_process_that_writes_nothing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_run_children", lambda *_: None)
    with pytest.raises(PeriplusError, match="could not be rendered"):
        write_python_pages(tmp_path / "pages")
    assert not (tmp_path / "pages").exists()


@pytest.mark.slow
def test_a_process_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_TIMEOUT", 0.01)
    with pytest.raises(PeriplusError, match="could not be rendered"):
        write_python_pages(tmp_path / "pages")
