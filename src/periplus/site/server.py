"""How does a site come to listen on a port, and how does it stop?"""

from __future__ import annotations

import errno
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from periplus.errors import PortTaken, UsageError
from periplus.signals import handling, is_ctrl_c_ignored
from periplus.site.protocol import BoundedProtocol

_BACKLOG = 2_048  # connections that may wait to be accepted
_STOP = frozenset({signal.SIGINT, signal.SIGTERM})
_GRACE = 5  # seconds that answers under way are given when the site stops


def listen(host: str, port: int) -> socket.socket:
    """A socket that is bound, so that a port which is taken is known before anything else is done."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except socket.gaierror as error:
        raise UsageError(f"{host!r} is not an address to listen on", error.strerror or "") from error
    except OSError as error:
        raise _complaint(host, port, error) from error


def _complaint(host: str, port: int, error: OSError) -> Exception:
    if error.errno == errno.EADDRINUSE:
        why = f"another program listens on {host}"
        return PortTaken(f"port {port} is taken", why, "Stop it, or choose another port with --port.")
    if error.errno == errno.EACCES:
        hint = "Choose one above 1023 with --port."
        return PortTaken(f"port {port} may not be used", "it is reserved for the system", hint)
    hint = "127.0.0.1 serves this machine only, 0.0.0.0 every network it is on."
    return UsageError(f"cannot listen on {host!r}", error.strerror or str(error), hint)


def address_of(listener: socket.socket) -> str:
    """The URL that a person types to come here."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def configuration(make_app: Callable[[], ASGIApp], workers: int = 1) -> Config:
    """How the server library is used."""
    return Config(
        make_app,
        factory=True,
        loop="uvloop",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,  # what people search for is not written down
        server_header=False,
        workers=workers,
        timeout_graceful_shutdown=_GRACE,
    )


def run(make_app: Callable[[], ASGIApp], listener: socket.socket, workers: int = 1) -> None:
    """Serve until Ctrl-C or SIGTERM. Each of several workers makes its own application, so *make_app* must pickle."""
    application = _Application(make_app, is_ctrl_c_ignored())
    if workers > 1:
        supervisor = _Workers(configuration(application, workers), sockets=[listener])
        if application.ignore_ctrl_c:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        supervisor.run()
        return
    server = Server(configuration(application))

    def stop(number: int, frame: object) -> None:
        """Told to stop before the server listens to signals itself, or by the server once it has stopped."""
        del number, frame
        server.should_exit = True

    with handling(stop):
        server.run(sockets=[listener])


class _Workers(Multiprocess):
    """Worker processes that are deaf until they serve: before, the interpreter would answer, with a traceback."""

    def init_processes(self) -> None:
        """Start the workers."""
        resource_tracker.ensure_running()  # starting it, the first worker would let the signals through again
        with _signals_held_back():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Start those anew that have died or do not answer."""
        with _signals_held_back():
            super().keep_subprocess_alive()


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """They reach this process afterwards, and no process that is started meanwhile."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)


@dataclass(frozen=True, slots=True)
class _Application:
    """Makes the application when the server library has installed its signal handlers.

    A worker process begins with its signals held back; from now on the server answers them.
    """

    make_app: Callable[[], ASGIApp]
    ignore_ctrl_c: bool  # as the parent process does; the library would answer SIGINT all the same

    def __call__(self) -> ASGIApp:
        if self.ignore_ctrl_c:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        return self.make_app()
