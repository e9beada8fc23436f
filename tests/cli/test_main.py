"""Help is fast, errors are one line with the right exit code, and a closed stdout is no error."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer

from crawl.crawling import environment, periplus, start, typed, wait
from periplus import __version__
from periplus.cli import main
from periplus.cli.main import COMMANDS
from periplus.errors import DiskFull, Interrupted, PeriplusError, UsageError
from periplus.signals import Stopped

HERE = [name for name in COMMANDS if find_spec(f"periplus.cli.commands.{name}")]


# -- help -----------------------------------------------------------------------------------------------------------


def test_help_answers_at_once() -> None:
    """CPU time, which other work on the machine does not lengthen; the best of three."""

    def seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        outcome = periplus("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert outcome.code == 0
        assert all(name in outcome.out for name in COMMANDS)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(3)) < 0.6


def test_the_process_that_watches_over_a_crawl_loads_nothing_that_only_workers_need() -> None:
    heavy = {"numpy", "pyarrow", "pycurl", "turbohtml", "uvloop"}
    look = f"import sys, periplus.cli.commands.crawl; print({heavy} & {{*sys.modules}})"
    done = subprocess.run([sys.executable, "-c", look], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_output_that_could_not_be_written_is_a_failure() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "periplus", "config", "show"], stdout=full, env=environment(), check=False
        )
    assert done.returncode == 1


def test_help_loads_nothing_that_a_command_needs() -> None:
    heavy = "{'pyarrow', 'numpy', 'pycurl', 'pydantic', 'fastwarc', 'turbohtml', 'uvloop'}"
    code = f"""
import sys
sys.argv = ["periplus", "--help"]
from periplus.cli.main import run
try:
    run()
except SystemExit:
    print("loaded:", sorted({heavy} & set(sys.modules)), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment(), check=True)
    assert done.stderr == "loaded: []\n"


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def own_words(name: str) -> list[str]:
    """What a command's own help says, below its usage."""
    outcome = typed(name, "--help")
    assert outcome.code == 0
    return words(outcome.out.partition("Usage:")[2].partition("\n")[2])


@pytest.mark.parametrize("name", ["crawl", "status", "inspect", "verify", "config"])
def test_the_summary_of_a_command_is_its_own_help_made_shorter(name: str) -> None:
    left = iter(own_words(name))
    missing = [word for word in words(COMMANDS[name]) if word not in left]
    assert not missing, f"{name}: {missing} of the summary is not in the help, in this order"


@pytest.mark.parametrize("name", HERE)
def test_the_summary_of_a_command_shares_words_with_its_help(name: str) -> None:
    telling = {word for word in words(COMMANDS[name]) if len(word) > 4}
    assert telling & set(own_words(name))


@pytest.mark.parametrize("name", HERE)
def test_every_command_can_be_pointed_at_a_collection(name: str) -> None:
    command = typer.main.get_command(import_module(f"periplus.cli.commands.{name}").app)
    for leaf in getattr(command, "commands", {"": command}).values():
        assert "--home" in {option for parameter in leaf.params for option in parameter.opts}


def test_the_version_is_printed() -> None:
    assert typed("--version").out == f"periplus {__version__}\n"


@pytest.mark.parametrize(("wrong", "right"), [("serch", "search"), ("craw", "crawl"), ("inspct", "inspect")])
def test_a_mistyped_command_names_the_right_one(wrong: str, right: str) -> None:
    outcome = typed(wrong, "x")
    assert (outcome.code, outcome.complaint) == (
        2,
        f"periplus: there is no command {wrong}. Did you mean `periplus {right}`?",
    )


def test_a_command_unlike_any_other_leads_to_the_help() -> None:
    assert typed("xyzzy").complaint == "periplus: there is no command xyzzy. Run `periplus help`."


@pytest.mark.parametrize("arguments", [[], *([name] for name in COMMANDS), ["inspect", "url"], ["seed", "add"]])
def test_no_flag_has_a_type_in_the_help(arguments: list[str]) -> None:
    outcome = typed(*arguments, "--help")
    assert "--help" in outcome.out
    assert "<bool>" not in outcome.out


def test_help_is_a_command_too() -> None:
    assert periplus("help").out == periplus("--help").out
    assert periplus("help", "top", "pages").out == periplus("top", "pages", "--help").out


@pytest.mark.parametrize(
    ("words", "completions"), [("periplus cr", ["crawl"]), ("periplus crawl --until-b", ["--until-bytes"])]
)
def test_the_shell_completes_commands_and_options(words: str, completions: list[str]) -> None:
    asked = {"_PERIPLUS_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    code = "from periplus.cli.main import main; main()"
    program = [sys.executable, "-c", f"import sys; sys.argv = ['periplus']; {code}"]
    done = subprocess.run(program, capture_output=True, text=True, env=environment() | asked, check=False)
    assert done.stdout.split() == completions


def test_with_json_an_error_is_an_object_on_stdout(tmp_path: Path) -> None:
    outcome = typed("status", "--home", tmp_path / "none", "--json")
    assert outcome.code == 1
    assert outcome.json == {
        "error": {
            "message": f"{tmp_path / 'none'} holds no collection",
            "hint": "`periplus crawl URL` makes one; --home names another folder.",
            "exit_code": 1,
        }
    }
    assert typed("runs", "--size", "many", "--json").json["error"]["exit_code"] == 2


# -- failures -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (UsageError("no such thing", hint="Try another."), 2),
        (PeriplusError("it failed", "because"), 1),
        (DiskFull("no room"), 3),
        (Interrupted("stopped"), 130),
        (Stopped(signal.SIGINT), 130),
        (Stopped(signal.SIGTERM), 143),
        (ValueError("a mistake of ours"), 1),
    ],
)
def test_a_failure_is_one_line_and_its_exit_code(
    monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(main, "app", fail)
    outcome = typed("anything")
    assert (outcome.code, outcome.out, outcome.err.count("\n")) == (code, "", 1)
    assert outcome.err.startswith("periplus: ")
    assert "Traceback" not in outcome.err


def test_an_internal_error_asks_for_a_report_and_debug_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise ValueError("oops")

    monkeypatch.setattr(main, "app", fail)
    plain, debugged = typed("x"), typed("x", "--debug")
    assert "internal error: ValueError: oops. Please report it with the output of --debug" in plain.err
    assert "Traceback" in debugged.err
    assert "test_main.py" in debugged.err
    assert (plain.code, debugged.code) == (1, 1)


def test_a_message_cannot_move_the_cursor(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: object) -> None:
        raise PeriplusError("bad \x1b[31mred\x07 \x9b2J and\u202e back", "line\r\nforged")

    monkeypatch.setattr(main, "app", fail)
    line = typed("x").err
    assert line.endswith("\n")
    assert line[:-1].isprintable()


def test_debug_may_stand_anywhere() -> None:
    assert "Traceback" in typed("--debug", "status", "--home", "/no/such/folder").err
    assert "Traceback" in typed("status", "--home", "/no/such/folder", "--debug").err
    assert "Traceback" not in typed("status", "--home", "/no/such/folder").err


# -- the outside world ----------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_closed_pipe_is_no_error(options: list[str]) -> None:
    """`periplus config show | head -1`"""
    child = start("config", "show", *options)
    assert child.stdout is not None
    child.stdout.close()
    assert child.stderr is not None
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait(30) in (0, 1)


@pytest.mark.slow
def test_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "periplus", "config", "show", "--json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            check=False,
        )
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_ctrl_c_before_anything_has_begun_is_an_interruption(tmp_path: Path) -> None:
    fifo = tmp_path / "seeds"
    os.mkfifo(fifo)
    child = start("crawl", "--seeds", fifo, "--home", tmp_path / "home")
    deadline = time.monotonic() + 20
    while True:  # until the command waits for its seeds
        try:
            writer = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            break
        except OSError:
            assert child.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    outcome = wait(child)
    os.close(writer)
    assert outcome.code == 130
    assert outcome.complaint == "periplus: interrupted. Everything fetched is kept; the same command continues."


def test_the_app_is_what_the_script_runs() -> None:
    assert isinstance(main.app, typer.Typer)


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["crawl", "--pages", "many"], "Invalid value for '--pages'"),
        (["crawl", "--nosuch"], "No such option: --nosuch"),
        (["inspect", "url"], "Missing argument 'URL'"),
    ],
)
def test_a_mistyped_command_is_one_line(words: list[str], complaint: str) -> None:
    outcome = typed(*words)
    assert (outcome.code, outcome.out) == (2, "")
    assert complaint in outcome.complaint
    assert "--help" in outcome.complaint


def test_a_command_without_words_shows_what_can_be_typed() -> None:
    outcome = typed()
    assert outcome.code == 2
    assert "Usage: periplus" in outcome.out + outcome.err
