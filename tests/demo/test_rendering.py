"""The documentation of Python is written once, whole, by processes that cannot harm the demo."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from periplus.demo import rendering
from periplus.demo.rendering import write_python_pages
from periplus.errors import PeriplusError


@dataclass(frozen=True)
class Rendered:
    """The pages, written once for all tests, while a secret was in the environment."""

    folder: Path
    progress: list[tuple[int, int]]


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> Rendered:
    folder = tmp_path_factory.mktemp("demo") / "documentation"
    progress: list[tuple[int, int]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERIPLUS_TEST_SECRET", "a-password-of-somebody")
        write_python_pages(folder, lambda done, total: progress.append((done, total)))
    return Rendered(folder, progress)


@pytest.fixture
def folder(rendered: Rendered) -> Path:
    return rendered.folder


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
    assert [path for path in folder.rglob("*.html") if b"a-password" in path.read_bytes()] == []


@pytest.mark.slow
def test_progress_counts_to_the_end(rendered: Rendered) -> None:
    assert [done for done, _ in rendered.progress] == list(range(1, len(rendered.progress) + 1))
    done, total = rendered.progress[-1]
    assert total - 20 <= done <= total  # modules that cannot be imported here are not written


def test_a_process_that_writes_nothing_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_run_children", lambda *_: None)
    with pytest.raises(PeriplusError, match="could not be written"):
        write_python_pages(tmp_path / "pages")
    assert not (tmp_path / "pages").exists()


@pytest.mark.slow
def test_a_process_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rendering, "_LONGEST", 0.01)
    with pytest.raises(PeriplusError, match="could not be written"):
        write_python_pages(tmp_path / "pages")
