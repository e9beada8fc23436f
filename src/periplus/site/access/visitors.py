"""Who sends a request to a console: a person on its machine, a person who is logged in, or a program with a token?

Without a password, the console is for persons on its machine: only this machine may reach the site, and the request
must come from it. With a password, everyone must log in. Programs with a token are accepted in both cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Literal

from starlette.datastructures import Headers
from starlette.types import Scope

from periplus.config import Console, Serving
from periplus.site.access.credentials import Credentials
from periplus.site.access.login_state import LoginState
from periplus.site.access.request_source import HostNames, is_local
from periplus.site.access.sessions import Session, Sessions, session_cookie
from periplus.site.access.tokens import name_of_token
from periplus.site.listener import is_local_site

_BEARER = "bearer "


@dataclass(frozen=True, slots=True)
class AccessOptions:
    """What decides who may use a console."""

    credentials: Callable[[], Credentials]  # the current ones
    secret: bytes = field(repr=False)  # the same in all processes of a site
    console: Console = field(default_factory=Console)
    serving: Serving = field(default_factory=Serving)
    state: LoginState = field(default_factory=LoginState)
    prefix: str = ""  # of the console's paths, such as /console; empty: the whole site
    is_public: bool = False  # the site listens on an address that other machines reach


@dataclass(frozen=True, slots=True)
class Visitor:
    """Someone who may use the console, or nobody in particular on the login page."""

    kind: Literal["local", "session", "token", "nobody"]
    name: str = ""  # of the token
    form_token: str = field(default="", repr=False)  # for the field `token` of every form
    session: Session | None = field(default=None, repr=False)

    @property
    def can_log_out(self) -> bool:
        """Whether pages show a button for it."""
        return self.session is not None


_NOBODY = Visitor("nobody")
_current: ContextVar[Visitor] = ContextVar("visitor", default=_NOBODY)


def visitor() -> Visitor:
    """Who sent the request that is being answered, for handlers and templates behind the guard."""
    return _current.get()


@contextmanager
def visiting(found: Visitor | None) -> Iterator[None]:
    """Names who sent the request that is answered inside."""
    token = _current.set(found or _NOBODY)
    try:
        yield
    finally:
        _current.reset(token)


class Visitors:
    """Recognises who sends a request."""

    def __init__(self, options: AccessOptions) -> None:
        self._options = options
        self._is_local_site = is_local_site(options.serving, is_public=options.is_public)
        self._names = HostNames(options.console.hosts, options.serving.public_address)
        self.sessions = Sessions(options.secret, options.console.session_hours)

    @property
    def password_hash(self) -> str:
        """Of the current password; empty: there is none."""
        return self._options.credentials().password

    def is_named_well(self, scope: Scope) -> bool:
        """Whether the Host header is a name of this console."""
        return self._names.allow(scope)

    def recognise(self, scope: Scope) -> Visitor | None:
        """Who sends the request; None when that person or program may not use the console."""
        headers, credentials = Headers(scope=scope), self._options.credentials()
        authorization = headers.get("authorization", "")
        if authorization.lower().startswith(_BEARER):
            name = name_of_token(authorization[len(_BEARER) :].strip(), credentials.tokens)
            return Visitor("token", name) if name else None
        if not credentials.password:
            is_here = self._is_local_site and is_local(scope)
            return Visitor("local", form_token=self.sessions.form_token(None)) if is_here else None
        session = self.sessions.read(session_cookie(headers.get("cookie", "")), credentials.password)
        if session is None or self._options.state.has_ended(session.number):
            return None
        return Visitor("session", form_token=self.sessions.form_token(session), session=session)
