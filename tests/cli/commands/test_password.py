"""`periplus password` writes the hash of a password into periplus.toml, and shows the password nowhere."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from crawl.crawling import Outcome, environment, typed
from guarded_console import PASSWORD, password_hash
from periplus.config import load
from periplus.site.access.passwords import is_password

FILE = "periplus.toml"


def piped(monkeypatch: pytest.MonkeyPatch, home: Path, text: str = f"{PASSWORD}\n", *options: str) -> Outcome:
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))
    return typed("password", "--home", home, *options)


def stored(home: Path) -> str:
    return load(home, environment={}).settings.console.password.get_secret_value()


def test_a_password_is_read_from_a_pipe_and_stored_as_a_hash(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    outcome = piped(monkeypatch, tmp_path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "The console has a new password.\n", "")
    assert is_password(PASSWORD, stored(tmp_path))
    assert PASSWORD not in (tmp_path / FILE).read_text()
    assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600


def test_the_rest_of_the_file_stays_and_its_owner_is_advised(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / FILE
    path.write_text('# mine\n[console]\nhosts = ["a.test"] # here\n[site]\nname = "A"\n')
    path.chmod(0o644)
    outcome = piped(monkeypatch, tmp_path)
    assert f"chmod 600 {path}" in outcome.err
    first = stored(tmp_path)
    piped(monkeypatch, tmp_path, "another password\n")
    assert stored(tmp_path) != first
    lines = path.read_text().splitlines()
    assert [lines[0], lines[1], lines[2], *lines[4:]] == [
        "# mine",
        "[console]",
        'hosts = ["a.test"] # here',
        "[site]",
        'name = "A"',
    ]
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_password_is_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    piped(monkeypatch, tmp_path)
    for _ in range(2):
        assert typed("password", "--remove", "--home", tmp_path).out == "The console has no password now.\n"
        assert stored(tmp_path) == ""


@pytest.mark.parametrize(("text", "complaint"), [("", "is empty"), ("\nsecond\n", "is empty"), ("short\n", "10 to")])
def test_nothing_is_written_without_a_good_password(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, complaint: str
) -> None:
    outcome = piped(monkeypatch, tmp_path, text)
    assert outcome.code == 2
    assert complaint in outcome.complaint
    assert "short" not in outcome.complaint
    assert not (tmp_path / FILE).exists()


def test_a_folder_that_does_not_exist_is_not_made(tmp_path: Path) -> None:
    assert "periplus init" in typed("password", "--home", tmp_path / "none").complaint
    assert not (tmp_path / "none").exists()


def test_a_password_in_the_environment_is_not_overridden_silently(tmp_path: Path) -> None:
    env = environment() | {"PERIPLUS_CONSOLE__PASSWORD": password_hash()}
    outcome = typed("password", "--home", tmp_path, env=env)
    assert outcome.code == 2
    assert "the environment overrides it" in outcome.complaint


def test_the_file_in_an_unusual_form_is_refused_without_showing_a_hash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / FILE).write_text("console = { session_hours = 3 }\n")
    outcome = piped(monkeypatch, tmp_path)
    assert outcome.code == 2
    assert "[console] in periplus.toml cannot be edited" in outcome.complaint
    assert "scrypt" not in outcome.err


@pytest.mark.slow
def test_on_a_terminal_it_asks_twice_and_does_not_show_what_is_typed(tmp_path: Path) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "periplus", "password", "--home", str(tmp_path)]
    child = subprocess.Popen(
        command, stdin=terminal, stdout=terminal, stderr=terminal, env=environment(), start_new_session=True
    )
    os.close(terminal)
    shown = b""
    for question in (b"New password: ", b"Again: "):
        while not shown.endswith(question):
            shown += os.read(master, 1_000)
        os.write(master, f"{PASSWORD}\n".encode())
    while b"new password.\r\n" not in shown:
        shown += os.read(master, 1_000)
    assert child.wait(timeout=60) == 0
    os.close(master)
    assert PASSWORD.encode() not in shown
    assert is_password(PASSWORD, stored(tmp_path))
