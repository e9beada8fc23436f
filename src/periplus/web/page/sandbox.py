"""Makes an archived page safe to show.

The page is shown in a frame that is sandboxed twice: by the `sandbox` attribute of the frame and by the headers of the
page. In the frame no script runs, no form is sent and nothing is loaded. Browsers do some things that no policy
forbids, such as connecting to the host of a link under the pointer; so the links are removed as well.
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
# Inside svg and math, HTML is parsed by other rules, which a rewriter without a tree cannot follow.
_REMOVED = "base, embed, frame, iframe, link, math, meta[http-equiv], object, script, svg"
_NOSCRIPT = re.compile(r"<(/?)noscript(?=[\s/>])", re.IGNORECASE)  # the rewriter sees raw text, our frame sees markup


def media_type(mime: str) -> str:
    """The Content-Type to send for a page of this media type; empty when the page cannot be shown as archived."""
    if mime in _MARKUP:
        return HTML
    return PLAIN if mime.startswith("text/") or mime in _OTHER_TEXT else ""


def sanitized(page: CachedPage) -> bytes:
    """The page in UTF-8, without links, scripts, frames and other elements that load something."""
    text = decode(page.body, f"charset={page.charset}" if page.charset else "")
    if media_type(page.mime) == HTML:
        text = rewrite(
            _NOSCRIPT.sub(r"<\1x-noscript", text), elements=[(_LINKS, _remove_link), (_REMOVED, Element.remove)]
        )
    return text.encode("utf-8", "replace")


def _remove_link(element: Element) -> None:
    for name in ("href", "xlink:href", "ping"):
        element.remove_attribute(name)


def frame_policy(request: Request) -> str:
    """The Content-Security-Policy of the page around the frame: the frame may load archived pages only."""
    host = request.headers.get("host", "")
    # 'self' cannot have a path, so the policy names the host; an invalid host name falls back to 'self'.
    source = f"{host}/cached/raw" if _HOST.fullmatch(host) else "'self'"
    return content_policy(frame_src=source)


def is_framed(request: Request) -> bool:
    """Whether the browser loads this into a frame; true when it sends no Sec-Fetch-Dest header."""
    return request.headers.get("sec-fetch-dest", "iframe") == "iframe"
