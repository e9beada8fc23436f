"""HTML and URLs that attack a browser."""

from __future__ import annotations

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from web.test_hostile import PAYLOADS

GROUPS = [PAYLOADS[start : start + 8] for start in range(0, len(PAYLOADS), 8)]
_CLOSING = "-->\"'></script></style></title></textarea></xmp></svg></noscript></iframe>"


def together(payloads: list[str]) -> str:
    """All of them in one page, none inside another."""
    return "<!doctype html>" + "".join(f"<div>{payload}{_CLOSING}</div>" for payload in payloads)


def bare(content: dict[str, str]) -> ASGIApp:
    """A site that shows what it is given as it is, with no headers at all."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(content[scope["path"]], media_type="text/html")(scope, receive, send)

    return app
