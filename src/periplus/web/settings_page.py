"""The page on which a reader chooses settings, and the cookie that keeps them.

The cookie exists only after a reader has saved settings. It has no number that identifies a reader. Only a form of this
site may set it: browsers say which site sent a form, in the header `Sec-Fetch-Site` or `Origin`.
"""

from __future__ import annotations

from dataclasses import replace
from email.parser import BytesParser
from email.policy import HTTP
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.errors import UsageError
from periplus.site.forms import form_fields, read_body
from periplus.site.pages import Pages
from periplus.site.preferences import COOKIE, SIZES, Preferences, from_choices, preferences
from periplus.site.site_rules import KINDS, NO_RULES, SiteRules, decode, joined, read_lines, typed_host
from periplus.web.parameters import SIZE

_FORM_BYTES = 2_000
_FILE_BYTES = 10_000  # of a form with a file of rules about sites
_ONE_YEAR = 365 * 86_400  # seconds
_MESSAGES = {
    "saved": "Settings saved in a cookie of this browser.",
    "forgotten": "Settings forgotten: the cookie is deleted.",
}
_EXPORT = {
    "content-type": "text/plain; charset=utf-8",
    "content-disposition": 'attachment; filename="sites.txt"',
    "cache-control": "private, no-store",
}


class SettingsPage:
    """The handlers of `/settings` and of the rules about sites."""

    def __init__(self, pages: Pages, public_address: str) -> None:
        self._pages, self._public_address = pages, public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [
            Route("/settings", self.show),
            Route("/settings", self.save, methods=["POST"]),
            Route("/settings/sites", self.save_sites, methods=["POST"]),
            Route("/settings/sites.txt", self.export_sites),
        ]

    async def show(self, request: Request) -> Response:
        """The form; the query string may offer rules about sites that are not saved yet."""
        message = next((text for name, text in _MESSAGES.items() if name in request.query_params), "")
        return self._page(message=message, offered=decode(request.query_params.get("sites", "")))

    def _page(self, status: int = 200, message: str = "", error: str = "", offered: SiteRules = NO_RULES) -> Response:
        # With the policy of the other pages, a browser would send the form without its origin.
        headers = {"referrer-policy": "same-origin"}
        chosen = preferences()
        return self._pages.response(
            "settings.html",
            status,
            headers=headers,
            chosen=chosen,
            size=chosen.size or SIZE,
            sizes=sorted({*SIZES, SIZE}),
            message=message,
            error=error,
            offered=offered if offered != chosen.sites else NO_RULES,
            kinds=KINDS,
        )

    async def save(self, request: Request) -> Response:
        """Sets or deletes the cookie, and shows the form again."""
        self._refuse_other_sites(request)
        form = form_fields(await read_body(request, _FORM_BYTES))
        if form.get("action") == "forget":
            return self._answer("forgotten", Preferences())
        if form.get("size") == str(SIZE):
            del form["size"]  # the usual one
        form.setdefault("keys", "off")  # a box that is not checked is not sent
        return self._answer("saved", replace(from_choices(form), sites=preferences().sites))

    async def save_sites(self, request: Request) -> Response:
        """Changes the rules about sites in the cookie, and shows the form again."""
        self._refuse_other_sites(request)
        body = await read_body(request, _FILE_BYTES)
        try:
            rules = _changed(preferences().sites, request.headers.get("content-type", ""), body)
        except UsageError as error:
            return self._page(400, error=f"Nothing was saved: {error.sentence}.")
        return self._answer("saved", replace(preferences(), sites=rules))

    async def export_sites(self, request: Request) -> Response:
        """The saved rules about sites as a text file."""
        del request
        return Response(preferences().sites.lines, headers=_EXPORT)

    def _answer(self, outcome: str, chosen: Preferences) -> Response:
        answer, cookie = RedirectResponse(f"/settings?{outcome}=1", 303), chosen.encode()
        is_secure = self._public_address.startswith("https:")
        age = _ONE_YEAR if cookie else 0
        answer.set_cookie(COOKIE, cookie, max_age=age, httponly=True, samesite="strict", secure=is_secure)
        return answer

    def _refuse_other_sites(self, request: Request) -> None:
        """Answer 403 when the form was not sent by a page of this site; a request without both headers may be."""
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin", "")
        own = {request.headers.get("host", ""), urlsplit(self._public_address).netloc} - {""}
        is_own = site == "same-origin" if site is not None else urlsplit(origin).netloc in own
        if not is_own:
            raise HTTPException(403, "Settings can only be saved from this site. Open the settings and save again.")


def _changed(rules: SiteRules, media_type: str, body: bytes) -> SiteRules:
    """The rules after what a form asks for: add or remove one, keep offered ones, import a file, or remove all."""
    if media_type.startswith("multipart/"):
        return joined(rules, read_lines(_file(media_type, body)))
    form = form_fields(body)
    if removed := form.get("remove"):
        return rules.changed(removed, "")
    match form.get("action"):
        case "keep":
            return decode(form.get("sites", ""))
        case "clear":
            return NO_RULES
        case _:
            typed = form.get("host", "")
            if not typed_host(typed):
                raise UsageError(f'"{typed[:60]}" is no host', "write a name such as example.org")
            return joined(rules, read_lines(f"{form.get('kind', '')} {typed_host(typed)}"))


def _file(media_type: str, body: bytes) -> str:
    """The text of the only file in a form."""
    header = f"content-type: {media_type}\r\n\r\n".encode("latin-1")
    parts = [part for part in BytesParser(policy=HTTP).parsebytes(header + body).walk() if part.get_filename()]
    content = parts[0].get_payload(decode=True) if parts else b""
    if not isinstance(content, bytes) or not content.strip():
        raise UsageError("the file is empty")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError("the file is no text in UTF-8") from None
