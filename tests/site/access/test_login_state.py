"""All processes of a site count login attempts together, also across restarts."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from periplus.site.access.login_state import ALL_ATTEMPTS, ATTEMPTS, LoginState


class Clock:
    """A clock that the test moves."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["memory", "file"])
def state(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> LoginState:
    return LoginState(tmp_path / "cache" / "logins.json" if request.param == "file" else None, clock)


def test_a_client_has_five_attempts_a_minute(state: LoginState, clock: Clock) -> None:
    for _ in range(5):
        assert state.attempt("192.0.2.1") == 0
        clock.now += 2
    assert state.attempt("192.0.2.1") == 50, "until the first attempt is a minute old"
    assert state.attempt("192.0.2.2") == 0
    clock.now += 50
    assert state.attempt("192.0.2.1") == 0
    assert state.attempt("192.0.2.1") == 2, "refused attempts did not count"


def test_all_clients_together_have_a_limit(state: LoginState) -> None:
    for number in range(ALL_ATTEMPTS):
        assert state.attempt(f"192.0.2.{number}") == 0
    assert state.attempt("198.51.100.1") == 60


def test_an_ipv6_network_is_one_client(state: LoginState) -> None:
    for number in range(ATTEMPTS):
        assert state.attempt(f"2001:db8::{number + 1}") == 0
    assert state.attempt("2001:db8::99") > 0
    assert state.attempt("2001:db8:0:1::1") == 0


def test_a_right_password_takes_its_attempt_back(state: LoginState) -> None:
    for _ in range(ATTEMPTS):
        state.attempt("192.0.2.1")
    state.succeeded("192.0.2.1")
    state.succeeded("192.0.2.9")
    assert state.attempt("192.0.2.1") == 0
    assert state.attempt("192.0.2.1") > 0


def test_a_clock_that_is_set_back_locks_nobody_out_for_long(state: LoginState, clock: Clock) -> None:
    for _ in range(ATTEMPTS):
        state.attempt("192.0.2.1")
    clock.now -= 3_600
    assert state.attempt("192.0.2.1") == 0


def test_a_logout_is_remembered_until_the_session_would_have_ended(state: LoginState, clock: Clock) -> None:
    assert not state.has_ended("a")
    state.end("a", int(clock.now) + 100)
    assert state.has_ended("a")
    assert not state.has_ended("b")
    clock.now += 100
    assert not state.has_ended("a")


_PROCESS = """
import sys
from pathlib import Path
from periplus.site.access.login_state import LoginState
state = LoginState(Path(sys.argv[1]))
print(*(state.attempt("192.0.2.1") for _ in range(4)))
"""


def test_several_processes_count_together(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _PROCESS, str(tmp_path / "logins.json")]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    waits = " ".join(process.communicate(timeout=120)[0] for process in processes).split()
    assert (len(waits), waits.count("0")) == (12, ATTEMPTS)


def test_an_attempt_waits_while_another_process_counts(tmp_path: Path, clock: Clock) -> None:
    path, waits = tmp_path / "logins.json", list[int]()
    for _ in range(ATTEMPTS):
        LoginState(path, clock).attempt("192.0.2.1")
    with path.open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        counted = file.read()
        file.truncate(0)  # the other process has read the file, and not written it yet
        thread = threading.Thread(target=lambda: waits.append(LoginState(path, clock).attempt("192.0.2.1")))
        thread.start()
        thread.join(1)
        os.pwrite(file.fileno(), counted, 0)
    thread.join()
    assert waits == [60]


def test_a_restart_forgets_nothing_and_only_the_owner_can_read_it(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "logins.json"
    for _ in range(ATTEMPTS):
        LoginState(path, clock).attempt("192.0.2.1")
    assert LoginState(path, clock).attempt("192.0.2.1") > 0
    assert path.stat().st_mode & 0o777 == 0o600
    assert json.loads(path.read_text())["version"] == 1


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"version": 1, "attempts": 1}', b"\xff\xfe", b'{"version": 1, "attempts": [[1]]}\n']
)
def test_a_damaged_file_counts_as_empty(tmp_path: Path, content: bytes, clock: Clock) -> None:
    path = tmp_path / "logins.json"
    path.write_bytes(content)
    state = LoginState(path, clock)
    for _ in range(ATTEMPTS):
        assert state.attempt("192.0.2.1") == 0
    assert state.attempt("192.0.2.1") > 0


def test_a_file_that_was_not_truncated_is_read(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "logins.json"
    LoginState(path, clock).end("a", int(clock.now) + 9)
    path.write_bytes(path.read_bytes() + b'rest of a longer text"]}\n')
    assert LoginState(path, clock).has_ended("a")


def test_without_a_usable_file_each_process_counts_for_itself(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "logins.json").mkdir()
    state = LoginState(tmp_path / "logins.json", clock)
    for _ in range(ATTEMPTS):
        assert state.attempt("192.0.2.1") == 0
    assert state.attempt("192.0.2.1") > 0
    assert len(caplog.messages) == 1


def test_a_full_disk_does_not_stop_the_counting(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "pwrite", full)
    state = LoginState(tmp_path / "logins.json", clock)
    for _ in range(ATTEMPTS):
        assert state.attempt("192.0.2.1") == 0
    assert state.attempt("192.0.2.1") > 0
    assert "No space left" in caplog.text
