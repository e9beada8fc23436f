"""Decides whether a request comes from the owner of the collection, who may judge results and save weights or queries.

The owner is a person on this machine. The site must listen on a loopback address, without a public address and without
trusted proxies. The request must come from a loopback address, without headers of a proxy. Its Host header must be a
loopback name, because a name of another site can be made to lead here (DNS rebinding). A form must come from a page of
this site and have the token that only such a page shows.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Scope

from periplus.config import Serving
from periplus.evaluation.own_judgements import OwnJudgements, one_line
from periplus.site.access.request_source import is_local, is_same_origin
from periplus.site.forms import read_form
from periplus.site.listener import is_local_site

_FORM_BYTES = 60_000
_NOT_LOCAL = "Only the owner of this collection can do that: on the machine of the site, at its loopback address."
_NOT_A_FORM = "Only a form of this site can do that. Open the page and send its form."
_OLD_FORM = "This form is too old. Go back, reload the page and send the form again."


@dataclass(frozen=True, slots=True)
class OwnerFiles:
    """What the owner can change from the site."""

    judgements: OwnJudgements
    home: Path  # of the collection, with periplus.toml
    reload: Callable[[], None]  # makes the site use new weights
    secret: bytes  # the same in all processes of a site


class Judging(NamedTuple):
    """What the forms of a page need for judging the results of a query."""

    token: str
    query: str
    back: str  # the page to return to
    judged: Mapping[str, bool]  # by URL: whether the owner called the page right


class Owner:
    """Recognises the owner of the collection."""

    def __init__(self, files: OwnerFiles | None, settings: Serving, *, is_public: bool) -> None:
        """*is_public*: the site listens on an address that other machines reach."""
        self._files = files if is_local_site(settings, is_public=is_public) else None
        self._token = hmac.digest(files.secret, b"owner's forms", "sha256").hex() if files else ""

    @property
    def files(self) -> OwnerFiles:
        """What the owner can change; 403 on a site without an owner."""
        if self._files is None:
            raise HTTPException(403, _NOT_LOCAL)
        return self._files

    def is_present(self, scope: Scope) -> bool:
        """Whether the owner sends this request."""
        return self._files is not None and is_local(scope)

    def token(self, request: Request) -> str:
        """The token for the forms of a page; empty when the reader is not the owner."""
        return self._token if self.is_present(request.scope) else ""

    def variant(self, scope: Scope) -> str:
        """Identifies what a page shows to the owner only; empty for every other reader."""
        if self._files is None or not is_local(scope):
            return ""
        return f"-{self._token[:16]}-{self._files.judgements.version}"

    def judging(self, request: Request, query: str, back: str) -> Judging | None:
        """For the results of a query; None when the reader is not the owner."""
        token, text = self.token(request), one_line(query)
        if not token or not text:
            return None
        return Judging(token, text, back, self.files.judgements.judged(text))

    def require(self, request: Request) -> None:
        """Refuses a request with 403 and a sentence unless the owner sends it."""
        if not self.is_present(request.scope):
            raise HTTPException(403, _NOT_LOCAL)

    async def form(self, request: Request) -> dict[str, str]:
        """The fields of a form of the owner; 403 with a sentence for every other request."""
        self.require(request)
        if request.method != "POST" or not is_same_origin(request.scope):
            raise HTTPException(403, _NOT_A_FORM)
        form = await read_form(request, _FORM_BYTES)
        if not hmac.compare_digest(form.get("token", "").encode(), self._token.encode()):
            raise HTTPException(403, _OLD_FORM)
        return form
