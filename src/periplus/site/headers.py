"""What is a browser forbidden to do with our pages?

Crawled text stands on them, so they may load nothing but our own files, run no inline code, be framed by nobody and
tell no other site what was searched for.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_OWN_PAGES = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self' data:",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}


def content_policy(**changes: str) -> str:
    """The Content-Security-Policy of our own pages; `frame_src="'self'"` adds or replaces a directive."""
    directives = _OWN_PAGES | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


STANDARD = {
    "content-security-policy": content_policy(),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
    "x-dns-prefetch-control": "off",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in STANDARD.items()]


class SecurityHeaders:
    """Gives every answer the headers above, except those it has set for itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                named = {name for name, _ in own}
                message = {**message, "headers": [*own, *(pair for pair in _ENCODED if pair[0] not in named)]}
            await send(message)

        await self._app(scope, receive, guarded)
