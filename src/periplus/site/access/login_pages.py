"""The pages for logging in to a console, and the form for logging out; both work without JavaScript."""

from __future__ import annotations

import asyncio
import logging
import re
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from periplus.site.access.passwords import PasswordCheck
from periplus.site.access.request_source import client_of, is_same_origin, scheme_of
from periplus.site.access.sessions import COOKIE
from periplus.site.access.visitors import AccessOptions, Visitors, visitor
from periplus.site.forms import read_form
from periplus.site.pages import Pages

CHALLENGE = {"www-authenticate": 'Bearer realm="Periplus console"'}
NOT_LOCAL = (
    "Without a password, the console can be used only on the machine of the site, at its loopback address. "
    "The command periplus password sets one."
)
_NOT_A_FORM = "Only the login page of this site can do that. Open it and log in."
_WRONG = "This is not the password."
_FORM_BYTES = 20_000
_SAFE_TARGET = re.compile(r"/(?!/)[!-\[\]-~]*")  # a path of this site: no backslash, no control character
# With the policy of the other pages, a browser would send the form without its origin.
_HEADERS = {"cache-control": "no-store", "referrer-policy": "same-origin"}
_log = logging.getLogger("periplus.site")


class LoginPages:
    """The handlers of `/login` and `/logout` below the console's prefix."""

    def __init__(self, options: AccessOptions, visitors: Visitors, pages: Pages) -> None:
        self._options, self._visitors, self._pages = options, visitors, pages
        self._check = PasswordCheck()
        self.path = f"{options.prefix}/login"

    def routes(self, prefix: str) -> list[Route]:
        """Path to handler."""
        return [
            Route(f"{prefix}/login", self.show),
            Route(f"{prefix}/login", self.log_in, methods=["POST"]),
            Route(f"{prefix}/logout", self.log_out, methods=["POST"]),
        ]

    async def show(self, request: Request) -> Response:
        """The form; a person who needs none goes to the console at once."""
        target = self._target(request.query_params.get("next", ""))
        if self._visitors.recognise(request.scope) is not None:
            return RedirectResponse(target, 303)
        return self.form(200, target=target)

    def form(self, status: int, message: str = "", target: str = "", wait: int = 0) -> Response:
        """The page with the form; 403 when there is no password."""
        if not self._visitors.password_hash:
            raise HTTPException(403, NOT_LOCAL)
        headers = dict(_HEADERS)
        if status == HTTPStatus.UNAUTHORIZED:
            headers |= CHALLENGE
        if wait:
            headers["retry-after"] = str(wait)
        values = {"message": message, "action": self.path, "target": self._target(target)}
        return self._pages.response("login.html", status, headers, **values)

    async def log_in(self, request: Request) -> Response:
        """Checks the password, and begins a session; 429 after too many attempts."""
        if not is_same_origin(request.scope, self._options.serving.public_address):
            raise HTTPException(403, _NOT_A_FORM)
        form = await read_form(request, _FORM_BYTES)
        target, client, state = self._target(form.get("next", "")), client_of(request.scope), self._options.state
        wait = await asyncio.to_thread(state.attempt, client)
        if wait:
            return self.form(429, f"Too many attempts to log in. Try again in {wait} s.", target, wait)
        stored = self._visitors.password_hash
        if not await self._check.is_right(form.get("password", ""), stored):
            _log.warning("a login to the console failed, from %s", client)
            return self.form(401, _WRONG, target)
        await asyncio.to_thread(state.succeeded, client)
        return self._begun(request.scope, target, stored)

    async def log_out(self, request: Request) -> Response:
        """Ends the session, also for a copy of its cookie."""
        if (session := visitor().session) is None:
            return RedirectResponse(self._target(""), 303)
        await asyncio.to_thread(self._options.state.end, session.number, session.end)
        answer = RedirectResponse(self.path, 303)
        self._set_cookie(answer, request.scope, "", 0)
        return answer

    def _begun(self, scope: Scope, target: str, stored: str) -> Response:
        answer = RedirectResponse(target, 303, {"cache-control": "no-store"})
        _, cookie = self._visitors.sessions.begin(stored)
        self._set_cookie(answer, scope, cookie, int(self._options.console.session_hours * 3_600))
        return answer

    def _set_cookie(self, answer: Response, scope: Scope, cookie: str, age: int) -> None:
        is_secure = "https" in {scheme_of(scope), self._options.serving.public_address.partition(":")[0]}
        path = self._options.prefix or "/"
        answer.set_cookie(COOKIE, cookie, age, path=path, secure=is_secure, httponly=True, samesite="strict")

    def _target(self, target: str) -> str:
        """The page to go to after a login: a path of the console, or its first page."""
        first = f"{self._options.prefix}/"
        return target if target.startswith(first) and _SAFE_TARGET.fullmatch(target) else first
