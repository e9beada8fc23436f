"""How is a page from the archive shown without letting it do anything?

Its bytes go, unchanged, into a frame that is sandboxed twice: by the page around it and by its own headers. There no
script runs, no form is sent, nothing is loaded, and a link leads nowhere.
"""

from __future__ import annotations

import re

from starlette.requests import Request

from periplus.model import CachedPage
from periplus.site.headers import content_policy

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_OTHER_TEXT = frozenset({"application/json", "application/xml", "application/ld+json"})
_CHARSET = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,39}")
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")

RAW_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "content-disposition": "inline",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "private, no-cache",
}


def media_type(page: CachedPage) -> str:
    """What the browser is told these bytes are; empty for what is not text and is not shown."""
    charset = page.charset if _CHARSET.fullmatch(page.charset) else "utf-8"
    if page.mime in _HTML:
        return f"text/html; charset={charset}"
    if page.mime.startswith("text/") or page.mime in _OTHER_TEXT:
        return f"text/plain; charset={charset}"
    return ""


def frame_policy(request: Request) -> str:
    """The policy of the page around the frame: nothing but archived pages may ever be loaded into it."""
    host = request.headers.get("host", "")
    # A path cannot follow 'self', so the host is named; one that cannot be named in a policy gets the wider rule.
    source = f"{host}/cached/raw" if _HOST.fullmatch(host) else "'self'"
    return content_policy(frame_src=source)


def is_framed(request: Request) -> bool:
    """Whether the browser loads this into a frame, as far as it says; opened alone, the sandbox would allow links."""
    return request.headers.get("sec-fetch-dest", "iframe") == "iframe"
