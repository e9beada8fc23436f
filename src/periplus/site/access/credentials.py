"""Which password and tokens does the console accept now?

A running site reads periplus.toml again within a second after it has changed. So a new password ends all sessions, and
a removed token is refused, without a restart.
"""

from __future__ import annotations

import logging
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from periplus.config import FILE_NAME, Console, Serving, Settings, load
from periplus.errors import UsageError
from periplus.site.listener import is_local_site, is_loopback

_CHECK_SECONDS = 1.0
_log = logging.getLogger("periplus.site")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Hashes of the password and of the tokens."""

    password: str = field(default="", repr=False)  # empty: there is none
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)  # by name

    @classmethod
    def of(cls, settings: Console) -> Credentials:
        """The credentials in the settings."""
        tokens = {name: secret.get_secret_value() for name, secret in settings.tokens.items()}
        return cls(settings.password.get_secret_value(), tokens)

    def __bool__(self) -> bool:
        return bool(self.password or self.tokens)


def may_serve_console(credentials: Credentials, serving: Serving, *, is_public: bool) -> bool:
    """Whether a site has a console: there is a password or a token, or only this machine reaches the site."""
    return bool(credentials) or is_local_site(serving, is_public=is_public)


def console_notice(settings: Settings, listener: socket.socket) -> str:
    """Why a site on this socket has no console; empty when it has one."""
    credentials = Credentials.of(settings.console)
    if may_serve_console(credentials, settings.serve, is_public=not is_loopback(listener)):
        return ""
    return "No console: other machines may reach this site, and the console has no password. Run `periplus password`."


class CredentialsFile:
    """The credentials in the settings of a collection; call it for the current ones."""

    def __init__(self, home: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._home, self._clock = home, clock
        self._state = self._file_state()
        self._current = Credentials.of(load(home).settings.console)
        self._checked = clock()

    def __call__(self) -> Credentials:
        """The credentials, at most a second old; the last valid ones when the file cannot be read."""
        now = self._clock()
        if now - self._checked >= _CHECK_SECONDS:
            self._checked = now
            self._check()
        return self._current

    def _check(self) -> None:
        state = self._file_state()
        if state == self._state:
            return
        self._state = state
        try:
            self._current = Credentials.of(load(self._home).settings.console)
        except UsageError as error:
            _log.error("the console keeps its password and tokens, because the settings cannot be read: %s", error)

    def _file_state(self) -> tuple[int, int, int] | None:
        """Changes with every change of the file; None when there is no file."""
        try:
            found = (self._home / FILE_NAME).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
