"""The page on which a reader chooses settings, and the cookie that keeps them.

The cookie exists only after a reader has saved settings. It has no number that identifies a reader. Only a form of this
site may set it: browsers say which site sent a form, in the header `Sec-Fetch-Site` or `Origin`.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.site.pages import Pages
from periplus.site.preferences import COOKIE, SIZES, from_choices, preferences
from periplus.web.forms import read_form
from periplus.web.parameters import SIZE

_FORM_BYTES = 2_000
_ONE_YEAR = 365 * 86_400  # seconds
_MESSAGES = {
    "saved": "Settings saved in a cookie of this browser.",
    "forgotten": "Settings forgotten: the cookie is deleted.",
}


class SettingsPage:
    """The handlers of `/settings`."""

    def __init__(self, pages: Pages, public_address: str) -> None:
        self._pages, self._public_address = pages, public_address

    def routes(self) -> list[Route]:
        """Path to handler."""
        return [Route("/settings", self.show), Route("/settings", self.save, methods=["POST"])]

    async def show(self, request: Request) -> Response:
        """The form."""
        message = next((text for name, text in _MESSAGES.items() if name in request.query_params), "")
        # With the policy of the other pages, a browser would send the form without its origin.
        headers = {"referrer-policy": "same-origin"}
        chosen = preferences()
        size = chosen.size or SIZE
        sizes = sorted({*SIZES, SIZE})
        return self._pages.response(
            "settings.html", headers=headers, chosen=chosen, size=size, sizes=sizes, message=message
        )

    async def save(self, request: Request) -> Response:
        """Sets or deletes the cookie, and shows the form again."""
        self._refuse_other_sites(request)
        form = await read_form(request, _FORM_BYTES)
        if form.get("action") == "forget":
            return self._answer("forgotten", "")
        if form.get("size") == str(SIZE):
            del form["size"]  # the usual one
        form.setdefault("keys", "off")  # a box that is not checked is not sent
        return self._answer("saved", from_choices(form).encode())

    def _answer(self, outcome: str, cookie: str) -> Response:
        answer = RedirectResponse(f"/settings?{outcome}=1", 303)
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
