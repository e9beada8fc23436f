"""Ctrl-C and SIGTERM end every command with one line and its exit code, and nothing incomplete stays behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from crawl.crawling import Outcome, environment, periplus, sound, start, typed, wait
from search.library import Doc, shelve
from store.warcs import page

HELD = Path(__file__).with_name("held.py")
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143}
WORDS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
DOCS = [Doc(f"http://a.example/{number}", f"Page {number}", "The harbour of Rome.") for number in range(20)]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection with ranks and an index."""
    home = tmp_path_factory.mktemp("finished") / "home"
    shelve(home, DOCS)
    for command in ("rank", "index"):
        assert typed(command, "--home", home).code == 0
    return home


@pytest.fixture
def home(finished: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    shutil.copytree(finished, folder)
    return folder


@dataclass(frozen=True)
class Case:
    """A command, and the function in which the signal meets it."""

    command: str
    place: str
    remains: str = "Nothing was changed."


CASES = [
    Case("rank --json", "periplus.graph.run:write_anchors", "The last complete ranks stay in use;"),
    Case("index --full", "periplus.index.documents.document_writer:_head", "The last complete index stays in use;"),
    Case("index --full", "periplus.index.build:_require_sound", "The last complete index stays in use;"),
    Case("reparse --everything", "periplus.reparse.segment:read_archived", "Segments finished so far are kept;"),
    Case("import FILE", "periplus.archives.page_writer:PageWriter._commit", "Pages imported so far are kept;"),
    Case("export OUT", "periplus.archives.exporter:_member", "Only a complete file is kept;"),
    Case("verify", "periplus.inspector.verify:_segment_problems"),
    Case("search harbour", "periplus.search.engine:SearchEngine.search"),
    Case("serve --port 0", "periplus.cli.commands.serve:listen"),
    Case("status", "periplus.cli.commands.status:overview"),
]


def arguments(case: Case, home: Path) -> list[str]:
    names = {"FILE": str(home.parent / "in.warc"), "OUT": str(home.parent / "out.warc.gz")}
    Path(names["FILE"]).write_bytes(page("one", "http://b.example/"))
    return [*(names.get(word, word) for word in case.command.split()), "--home", str(home)]


def begin(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def stop(child: subprocess.Popen[str], number: int, is_time: Callable[[], bool]) -> Outcome:
    """Send a signal at the right moment; afterwards no process of the command may be left."""
    deadline = time.monotonic() + 60
    while not is_time():
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    child.send_signal(number)
    outcome = wait(child)
    while processes_of(child.pid):  # one that tracks shared memory ends a moment after the command
        assert time.monotonic() < deadline, "a process is left"
        time.sleep(0.01)
    return outcome


def processes_of(session: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, owner = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(owner) == session and state != "Z":
            found.append(stat.parent.name)
    return found


def unfinished(folder: Path) -> list[str]:
    endings = (".tmp", ".part", ".again")
    return [str(path) for path in folder.rglob("*") if path.name.endswith(endings) or path.name in ("scratch", "spill")]


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.command} {case.place.rpartition('.')[2]}")
def test_a_signal_ends_a_command_cleanly(case: Case, number: signal.Signals, home: Path) -> None:
    marker, words = home.parent / "marker", arguments(case, home)
    outcome = stop(begin([sys.executable, str(HELD), case.place, str(marker), *words]), number, marker.exists)
    assert outcome.code == CODES[number]
    assert outcome.complaint.startswith(f"periplus: {WORDS[number]}. {case.remains}")
    assert outcome.out == ""
    assert not unfinished(home.parent)
    sound(home)
    if not words[0].startswith("serve"):
        assert typed(*words).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
def test_processes_that_read_pages_again_end_with_the_command(number: signal.Signals, tmp_path: Path) -> None:
    docs = [
        Doc(f"http://a.example/{place}", f"Page {place}", body=b"<p>The harbour.</p>" * 500) for place in range(700)
    ]
    home = tmp_path / "home"
    shelve(home, docs[:350])
    shelve(home, docs[350:])
    child = begin([sys.executable, "-m", "periplus", "reparse", "--home", str(home)])
    outcome = stop(child, number, lambda: any((home / "segments").glob("*.again")))
    assert outcome.code == CODES[number]
    assert outcome.complaint.startswith(f"periplus: {WORDS[number]}. Segments finished so far are kept;")
    assert not unfinished(home)
    sound(home)
    assert typed("reparse", "--home", home).code == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_machine_code_is_made_ends_the_ranking(number: signal.Signals, home: Path) -> None:
    """numba drops exceptions that are raised inside its callbacks."""
    large = "from periplus.graph import kernel_choice; kernel_choice.FEW_LINKS = -1"  # every graph counts as large
    code = f"{large}; from periplus.cli.main import main; main()"
    child = begin([sys.executable, "-c", code, "rank", "--home", str(home)])
    assert child.stderr is not None
    for line in child.stderr:
        if line == "ranking hosts\n":  # compiled from here on
            break
    outcome = stop(child, number, lambda: True)
    assert outcome.code == CODES[number]
    assert outcome.complaint.startswith(f"periplus: {WORDS[number]}. The last complete ranks")
    assert not unfinished(home)


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
def test_a_demo_that_is_stopped_leaves_no_half_written_documentation(number: signal.Signals, tmp_path: Path) -> None:
    child = begin([sys.executable, "-m", "periplus", "demo", "--exit", "--home", str(tmp_path / "demo")])
    outcome = stop(child, number, lambda: any(tmp_path.glob("demo/documentation.tmp/library/*.html")))
    assert outcome.code == CODES[number]
    lines = outcome.err.splitlines()
    assert lines[-1].startswith(f"periplus: {WORDS[number]}. What is complete is kept;")
    assert all(line.startswith("rendering the Python documentation") for line in lines[:-1]), outcome.err
    assert not unfinished(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("number", CODES)
def test_a_signal_while_the_command_is_loaded_is_one_line(number: signal.Signals, tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    (tmp_path / "typer.py").write_text(f"import time\nopen({str(marker)!r}, 'w').close()\ntime.sleep(60)\n")
    child = start("status", env=environment() | {"PYTHONPATH": str(tmp_path)}, start_new_session=True)
    outcome = stop(child, number, marker.exists)
    assert outcome.code == CODES[number]
    assert outcome.complaint == f"periplus: {WORDS[number]}. Nothing was changed."


# -- started in the background: SIGINT is ignored -------------------------------------------------------------------


def in_the_background(*words: str | Path) -> list[str]:
    command = ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", sys.executable, "-m", "periplus"]
    return [*command, *map(str, words)]


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_site_in_the_background_ignores_ctrl_c_and_ends_with_sigterm(home: Path, workers: str) -> None:
    child = begin(in_the_background("serve", "--home", home, "--port", "0", "--workers", workers))
    assert child.stderr is not None
    assert "Serving " in child.stderr.readline()
    expected = 1 if workers == "1" else 4  # the supervisor, two workers, and the one that tracks shared memory
    deadline = time.monotonic() + 60
    while not are_serving(child.pid, expected):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    before = processes_of(child.pid)
    os.killpg(child.pid, signal.SIGINT)
    time.sleep(1.5)  # the supervisor looks after its workers twice a second
    assert processes_of(child.pid) == before
    outcome = stop(child, signal.SIGTERM, lambda: True)
    assert (outcome.code, outcome.err) == (0, "")


def are_serving(session: int, processes: int) -> bool:
    """Whether every process is there, and has handlers for SIGTERM and a socket loop."""
    found = processes_of(session)
    maps = [Path(f"/proc/{pid}/maps").read_text() for pid in found]
    return len(found) == processes and sum("uvloop" in text for text in maps) >= max(1, processes - 2)


def test_a_command_that_is_not_stopped_says_nothing_about_signals(home: Path) -> None:
    assert periplus("status", "--home", home).err == ""
