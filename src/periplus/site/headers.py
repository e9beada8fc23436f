"""Adds security headers to every response.

Pages show crawled text. So they load only files of this site, run no inline code, cannot be framed by other sites, and
send no Referer header.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_DIRECTIVES = {
    "default-src": "'none'",
    "style-src": "'self'",
    "script-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
_DENIED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")


def content_policy(**changes: str) -> str:
    """The Content-Security-Policy of the site's own pages; `frame_src="'self'"` adds or replaces a directive."""
    directives = _DIRECTIVES | {name.replace("_", "-"): value for name, value in changes.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


def feature_policy(**changes: str) -> str:
    """The Permissions-Policy of the site's own pages; `microphone="self"` lets a page use the microphone."""
    return ", ".join(f"{name}=({changes.get(name.replace('-', '_'), '')})" for name in _DENIED)


STANDARD = {
    "content-security-policy": content_policy(),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": feature_policy(),
    "x-dns-prefetch-control": "off",
}
VOICE = {"permissions-policy": feature_policy(microphone="self")}  # of the pages with `voice.js`
_ENCODED = [(name.encode(), value.encode()) for name, value in STANDARD.items()]


class SecurityHeaders:
    """Adds the standard headers to every response, unless the response has set them itself."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                named = {name for name, _ in own}
                message = {**message, "headers": [*own, *(pair for pair in _ENCODED if pair[0] not in named)]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
