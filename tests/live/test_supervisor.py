"""Children that end are started again, and all are stopped in order."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from live.running import until

PROGRAM = """
import os, signal, sys, time
from pathlib import Path
from periplus.errors import PeriplusError
from periplus.live.supervisor import ChildSpec, Supervisor

folder = Path(sys.argv[1])

def note(text):
    with (folder / "notes").open("a") as file:
        file.write(text + "\\n")

def steady(name):
    def work():
        ended = []
        signal.signal(signal.SIGTERM, lambda *_: ended.append(1))
        note(f"{name} {os.getpid()}")
        while not ended:
            time.sleep(0.02)
        note(f"{name} ends")
    return work

def failing():
    note("failing")
    raise PeriplusError("no disk", "it is full", "Buy one.")

def brief():
    note("brief")

works = {"steady": steady, "failing": lambda _: failing, "brief": lambda _: brief}
specs = [ChildSpec(name, works[kind](name), 1) for kind, name in (word.split(":") for word in sys.argv[2:])]
Supervisor(specs, lambda text: print(text, flush=True)).run()
"""


Run = Callable[..., subprocess.Popen[str]]


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Run]:
    processes: list[subprocess.Popen[str]] = []

    def run(*children: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path), *children]
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))
        return processes[-1]

    yield run
    for process in processes:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def notes(folder: Path) -> list[str]:
    path = folder / "notes"
    return path.read_text().splitlines() if path.exists() else []


def pid_of(name: str, folder: Path) -> int:
    return int([note for note in notes(folder) if note.startswith(f"{name} ")][-1].split()[1])


def test_children_are_stopped_one_after_the_other(supervised: Run, tmp_path: Path) -> None:
    process = supervised("steady:crawl", "steady:builder", "steady:site")
    until(lambda: len(notes(tmp_path)) == 3)
    assert [note.split()[0] for note in notes(tmp_path)].count("site") == 1
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 0
    assert notes(tmp_path)[3:] == ["crawl ends", "builder ends", "site ends"]


def test_a_killed_child_is_replaced_and_the_others_go_on(supervised: Run, tmp_path: Path) -> None:
    process = supervised("steady:crawl", "steady:site")
    until(lambda: len(notes(tmp_path)) == 2)
    first, site = pid_of("crawl", tmp_path), pid_of("site", tmp_path)
    os.kill(first, signal.SIGKILL)
    until(lambda: pid_of("crawl", tmp_path) != first)
    os.kill(site, 0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out.splitlines()[0] == "crawl ended (killed by SIGKILL); starts again in 1 s"


def test_a_child_that_fails_is_started_again_after_longer_and_longer_pauses(supervised: Run, tmp_path: Path) -> None:
    process = supervised("failing:builder", "steady:site")
    until(lambda: notes(tmp_path).count("failing") == 3)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    said = [line for line in out.splitlines() if line.startswith("builder")]
    assert said[:2] == [f"builder ended (no disk: it is full. Buy one.); starts again in {n} s" for n in (1, 2)]


def test_a_child_that_has_done_its_work_is_not_started_again(supervised: Run, tmp_path: Path) -> None:
    process = supervised("brief:crawl", "failing:builder", "steady:site")
    until(lambda: notes(tmp_path).count("failing") == 2)
    assert notes(tmp_path).count("brief") == 1
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0


def test_children_die_with_their_supervisor(supervised: Run, tmp_path: Path) -> None:
    process = supervised("steady:crawl", "steady:site")
    until(lambda: len(notes(tmp_path)) == 2)
    children = [pid_of(name, tmp_path) for name in ("crawl", "site")]
    process.kill()
    process.wait()
    until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in children))
