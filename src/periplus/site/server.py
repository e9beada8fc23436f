"""Runs the server processes of a site, and stops them on a signal."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing import resource_tracker

from starlette.types import ASGIApp
from uvicorn import Config, Server
from uvicorn.supervisors import Multiprocess

from periplus.signals import handling, is_ctrl_c_ignored
from periplus.site.protocol import BoundedProtocol

# The event loop accepts one connection per socket in each of its rounds, and a round of a busy site takes 50 ms. With
# one socket, the last of 1,000 new clients waited for 8 seconds. So the loop gets several descriptors of one socket.
_DESCRIPTORS = 16
_STOP = frozenset({signal.SIGINT, signal.SIGTERM})
_SHUTDOWN_SECONDS = 5  # for responses in progress when the site stops


def configuration(make_app: Callable[[], ASGIApp], workers: int = 1) -> Config:
    """The uvicorn configuration."""
    return Config(
        make_app,
        factory=True,
        loop="uvloop",
        http=BoundedProtocol,
        ws="none",
        lifespan="auto",
        log_config=None,
        log_level="error",
        access_log=False,  # the site writes its own
        server_header=False,
        proxy_headers=False,  # uvicorn would believe every proxy on this machine; see client_address.py
        workers=workers,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
    )


def run(make_app: Callable[[], ASGIApp], listener: socket.socket, workers: int = 1) -> None:
    """Serves until Ctrl-C or SIGTERM. Each worker process calls *make_app*, so *make_app* must be picklable."""
    application = _Application(make_app, is_ctrl_c_ignored())
    with ExitStack() as stack:
        copies = [stack.enter_context(listener.dup()) for _ in range(_DESCRIPTORS - 1)]
        _serve(application, [listener, *copies], workers)


def _serve(application: _Application, sockets: list[socket.socket], workers: int) -> None:
    if workers > 1:
        supervisor = _Workers(configuration(application, workers), sockets=sockets)
        if application.ignore_ctrl_c:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        supervisor.run()
        return
    server = Server(configuration(application))

    def stop(number: int, frame: object) -> None:
        """Handles a signal before uvicorn has installed its handlers, or after it has removed them."""
        del number, frame
        server.should_exit = True

    with handling(stop):
        server.run(sockets=sockets)


class _Workers(Multiprocess):
    """Worker processes that start with signals blocked; otherwise an early signal would print a traceback."""

    def init_processes(self) -> None:
        """Starts the workers."""
        resource_tracker.ensure_running()  # otherwise the first worker starts it, which unblocks the signals
        with _signals_blocked():
            super().init_processes()

    def keep_subprocess_alive(self) -> None:
        """Restarts workers that have died or do not respond."""
        with _signals_blocked():
            super().keep_subprocess_alive()


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Blocks SIGINT and SIGTERM: this process receives them afterwards, child processes start with them blocked."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _STOP)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)


@dataclass(frozen=True, slots=True)
class _Application:
    """Creates the application; uvicorn calls it after it has installed its signal handlers.

    A worker process starts with signals blocked; this call unblocks them.
    """

    make_app: Callable[[], ASGIApp]
    ignore_ctrl_c: bool  # as in the parent process; uvicorn would handle SIGINT anyway

    def __call__(self) -> ASGIApp:
        if self.ignore_ctrl_c:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP)
        return self.make_app()
