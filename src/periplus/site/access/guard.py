"""Stands before all pages of a console: a request passes only from a visitor, under a name of the console.

A request that may change something (every method but GET, HEAD and OPTIONS) must also come from a page of this site,
and have the form token of the visitor: in the field `token` of a form, or in the header `X-Form-Token` of a script. A
program with a token needs neither, because browsers never send a token by themselves. Browsers store no answer.
"""

from __future__ import annotations

import hmac
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from periplus.site.access.login_pages import CHALLENGE, NOT_LOCAL, LoginPages
from periplus.site.access.request_source import is_same_origin
from periplus.site.access.visitors import AccessOptions, Visitor, Visitors, visiting
from periplus.site.assets import PREFIX as STATIC
from periplus.site.error_pages import ErrorPages
from periplus.site.forms import form_fields, read_body
from periplus.site.pages import Pages

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORM = "application/x-www-form-urlencoded"
_LONGEST_TARGET = 2_000  # characters of the page to return to after a login
_FORM_BYTES = 1 << 20  # of a form, which is read before its handler gets it
_WRONG_NAME = "The console does not answer to this name. Add it to console.hosts in periplus.toml."
_NOT_LOGGED_IN = "Log in, or send a valid token in the header Authorization: Bearer TOKEN."
_ENDED = "The session has ended, and nothing was changed. Log in, and send the form again."
_NOT_A_FORM = "Only a page of this site can do that. Open the console and send its form."
_OLD_FORM = "This form is too old. Go back, reload the page and send the form again."


class Access:
    """The login pages of a console, and the guard before its pages."""

    def __init__(self, options: AccessOptions, pages: Pages) -> None:
        self._options, self._visitors = options, Visitors(options)
        self._login = LoginPages(options, self._visitors, pages)

    def routes(self, prefix: str | None = None) -> list[Route]:
        """The routes of login and logout; *prefix*: as in the options, unless the application is mounted there."""
        return self._login.routes(self._options.prefix if prefix is None else prefix)

    def guard(self, app: ASGIApp, errors: ErrorPages) -> ASGIApp:
        """The application behind the guard."""
        return _Guard(app, errors, self._options, self._visitors, self._login)


class _Guard:
    """ASGI middleware around the routes of a site."""

    def __init__(
        self, app: ASGIApp, errors: ErrorPages, options: AccessOptions, visitors: Visitors, login: LoginPages
    ) -> None:
        self._app, self._errors, self._options = app, errors, options
        self._visitors, self._login = visitors, login

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] == "lifespan" or not self._is_guarded(scope["path"]):
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close"})  # the console has none
            return
        try:
            answer, found = self._admit(scope)
            if found is not None and found.kind != "token" and scope["method"] not in SAFE_METHODS:
                receive = await self._require_own_form(scope, receive, found)
        except HTTPException as refused:
            answer, found = self._error(scope, refused), None
        except ClientDisconnect:
            return
        with visiting(found):
            await answer(scope, receive, _unstored(send))

    def _is_guarded(self, path: str) -> bool:
        prefix = self._options.prefix
        return (path == prefix or path.startswith(f"{prefix}/")) and not path.startswith(STATIC)

    def _error(self, scope: Scope, refused: HTTPException) -> ASGIApp:
        return self._errors.answer(scope["path"], refused.status_code, refused.detail, refused.headers)

    def _admit(self, scope: Scope) -> tuple[ASGIApp, Visitor | None]:
        """What answers the request, and who sends it; raises HTTPException when the request is refused."""
        if not self._visitors.is_named_well(scope):
            raise HTTPException(403, _WRONG_NAME)
        if scope["path"] == self._login.path:
            return self._app, None
        found = self._visitors.recognise(scope)
        return (self._answer_to_stranger(scope) if found is None else self._app), found

    def _answer_to_stranger(self, scope: Scope) -> ASGIApp:
        """The way to the login page for a person; 401 for a program."""
        headers = Headers(scope=scope)
        is_person = "text/html" in headers.get("accept", "") and "/api/" not in scope["path"]
        if not self._visitors.password_hash and "authorization" not in headers:
            raise HTTPException(403, NOT_LOCAL)
        if not is_person or not self._visitors.password_hash:
            raise HTTPException(401, _NOT_LOGGED_IN, CHALLENGE)
        if scope["method"] not in SAFE_METHODS:
            return self._login.form(401, _ENDED)
        return RedirectResponse(f"{self._login.path}?next={quote(_requested(scope))}", 303)

    async def _require_own_form(self, scope: Scope, receive: Receive, found: Visitor) -> Receive:
        """Refuses a form that no page of the console has sent; returns the form for the handler."""
        if not is_same_origin(scope, self._options.serving.public_address):
            raise HTTPException(403, _NOT_A_FORM)
        headers = Headers(scope=scope)
        token, body = headers.get("x-form-token", ""), None
        if not token and headers.get("content-type", "").partition(";")[0].strip().lower() == _FORM:
            body = await read_body(Request(scope, receive), _FORM_BYTES)
            token = form_fields(body).get("token", "")
        if not hmac.compare_digest(token.encode("utf-8", "surrogatepass"), found.form_token.encode()):
            raise HTTPException(403, _OLD_FORM)
        return receive if body is None else _replayed(body, receive)


def _requested(scope: Scope) -> str:
    """Path and query of a request, as the browser wrote them; empty when they are too long to return to."""
    path, query = scope.get("raw_path") or quote(scope["path"]).encode(), scope["query_string"]
    target = (path + b"?" + query if query else path).decode("latin-1")
    return target if len(target) <= _LONGEST_TARGET else ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives a body that was read already, and then what comes after it."""
    parts = [body]

    async def next_message() -> Message:
        if parts:
            return {"type": "http.request", "body": parts.pop(), "more_body": False}
        return await receive()

    return next_message


def _unstored(send: Send) -> Send:
    """Forbids that an answer is stored; forms of its page are sent with their origin."""

    async def send_unstored(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(raw=list(message.get("headers", [])))
            headers["cache-control"] = "no-store"
            headers.setdefault("referrer-policy", "same-origin")
            message = {**message, "headers": headers.raw}
        await send(message)

    return send_unstored
