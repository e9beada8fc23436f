"""How is a page from the archive shown without letting it do anything?

It goes into a frame that is sandboxed twice: by the page around it and by its own headers. There no script runs, no
form is sent and nothing is loaded. That leaves what browsers do outside every policy, such as connecting to the host
of a link that is merely pointed at; so the links are taken out as well.
"""

from __future__ import annotations

import re

from starlette.requests import Request
from turbohtml.rewrite import Element, rewrite

from periplus.model import CachedPage
from periplus.parse.charset import decode
from periplus.site.headers import content_policy

HTML = "text/html; charset=utf-8"
PLAIN = "text/plain; charset=utf-8"
RAW_HEADERS = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; "
    "form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
    "x-frame-options": "SAMEORIGIN",
    "content-disposition": "inline",
    "x-robots-tag": "noindex, nofollow",
    "cache-control": "private, no-cache",
}
_MARKUP = frozenset({"text/html", "application/xhtml+xml"})
_OTHER_TEXT = frozenset({"application/json", "application/ld+json", "application/xml"})
_HOST = re.compile(r"[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?")
_LINKS = "a, area"
# Where svg and math stand, the rules of parsing change in ways that a rewriter without a tree cannot follow.
_WITHOUT_USE = "base, embed, frame, iframe, link, math, meta[http-equiv], object, script, svg"
_NOSCRIPT = re.compile(r"<(/?)noscript(?=[\s/>])", re.IGNORECASE)  # raw text to the rewriter, markup in our frame


def media_type(page: CachedPage) -> str:
    """What the browser is told it gets; empty for what is not text and is not shown."""
    if page.mime in _MARKUP:
        return HTML
    return PLAIN if page.mime.startswith("text/") or page.mime in _OTHER_TEXT else ""


def inert(page: CachedPage) -> bytes:
    """The page in UTF-8, without anything that leads elsewhere."""
    text = decode(page.body, f"charset={page.charset}" if page.charset else "")
    if media_type(page) == HTML:
        text = rewrite(
            _NOSCRIPT.sub(r"<\1x-noscript", text), elements=[(_LINKS, _unlink), (_WITHOUT_USE, Element.remove)]
        )
    return text.encode("utf-8", "replace")


def _unlink(element: Element) -> None:
    for name in ("href", "xlink:href", "ping"):
        element.remove_attribute(name)


def frame_policy(request: Request) -> str:
    """The policy of the page around the frame: nothing but archived pages may ever be loaded into it."""
    host = request.headers.get("host", "")
    # A path cannot follow 'self', so the host is named; one that cannot be named in a policy gets the wider rule.
    source = f"{host}/cached/raw" if _HOST.fullmatch(host) else "'self'"
    return content_policy(frame_src=source)


def is_framed(request: Request) -> bool:
    """Whether the browser loads this into a frame, as far as it says."""
    return request.headers.get("sec-fetch-dest", "iframe") == "iframe"
