"""A small stand-in for the console, behind the guard, with reading and writing routes of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from access_checks import GuardedSite
from periplus.config import Console, Serving
from periplus.site.access.credentials import Credentials
from periplus.site.access.guard import Access
from periplus.site.access.login_state import LoginState
from periplus.site.access.passwords import hash_password
from periplus.site.access.tokens import hash_token
from periplus.site.access.visitors import AccessOptions, visitor
from periplus.site.app import build
from periplus.site.front import FrontOptions
from periplus.site.pages import Pages
from web.serving import serving

PASSWORD = "nine grey geese"
TOKEN = "periplus_of-this-test"
_TEMPLATES = Path(__file__).parent / "no-templates"


@cache
def password_hash() -> str:
    """The hash of the password; it takes a while."""
    return hash_password(PASSWORD)


def credentials() -> Credentials:
    """A password and a token."""
    return Credentials(password_hash(), {"test": hash_token(TOKEN)})


@dataclass
class StandIn:
    """A console that only notes what it was asked to change."""

    prefix: str = "/console"
    front: FrontOptions | None = None
    done: list[tuple[str, str, bytes]] = field(default_factory=list)  # kind of visitor, method and path, body

    def routes(self) -> list[Route | Mount]:
        """Reading and writing routes, also mounted ones and such with parameters."""
        api = [
            Route("/overview", self.read),
            Route("/scope", self.write, methods=["PUT"]),
            Route("/traps/{number:int}", self.write, methods=["DELETE", "PATCH"]),
        ]
        return [
            Route(f"{self.prefix}/", self.page),
            Route(f"{self.prefix}/hosts/{{host}}", self.page),
            Route(f"{self.prefix}/seeds", self.page),
            Route(f"{self.prefix}/seeds", self.write, methods=["POST"]),
            Route(f"{self.prefix}/hosts/{{host}}/block", self.write, methods=["POST"]),
            Mount(f"{self.prefix}/api", routes=api),
        ]

    async def page(self, request: Request) -> Response:
        """A page with two forms."""
        token, path = visitor().form_token, request.url.path
        fields = f'<input type="hidden" name="token" value="{token}"><button>'
        out = f'<form method="post" action="{self.prefix}/logout">{fields}Log out</button></form>'
        return HTMLResponse(
            '<!doctype html><html lang="en"><head><title>Console</title><meta name="referrer" content="same-origin">'
            f'</head><body><main><h1>Console</h1><p>{path}</p><form method="post" action="{self.prefix}/seeds">'
            f'<label>Seed <input name="seed"></label>{fields}Add</button></form>{out if visitor().can_log_out else ""}'
            "</main></body></html>"
        )

    async def read(self, request: Request) -> Response:
        """Something for programs."""
        del request
        return JSONResponse({"visitor": visitor().kind, "name": visitor().name})

    async def write(self, request: Request) -> Response:
        """Notes the request."""
        self.done.append((visitor().kind, f"{request.method} {request.url.path}", await request.body()))
        return RedirectResponse(f"{self.prefix}/", 303)

    def app(self, options: AccessOptions) -> tuple[ASGIApp, list[Route | Mount]]:
        """The application behind the guard, and its route table."""
        pages = Pages(_TEMPLATES)
        access = Access(options, pages)
        routes = [*self.routes(), *access.routes()]
        return build(routes, pages, options=self.front, guard=access.guard), routes


@contextmanager
def guarded(
    console: StandIn | None = None,
    known: Callable[[], Credentials] | None = None,
    serve: Serving | None = None,
    settings: Console | None = None,
    *,
    is_public: bool = False,
    state: LoginState | None = None,
) -> Iterator[GuardedSite]:
    """Serves the stand-in, with a password and a token unless *known* gives others."""
    stand_in = console or StandIn()
    options = AccessOptions(
        known or credentials,
        b"secret of this test",
        settings or Console(),
        serve or Serving(),
        state or LoginState(),
        stand_in.prefix,
        is_public,
    )
    app, routes = stand_in.app(options)
    with serving(app) as site:
        yield GuardedSite(site, routes, options, TOKEN)
