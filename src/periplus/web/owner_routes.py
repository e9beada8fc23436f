"""The forms of the owner: judge a result of a query, and save the weights of the playground in periplus.toml."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.config import FILE_NAME, load
from periplus.errors import PeriplusError, UsageError
from periplus.evaluation.weights_file import changed_lines, write_weights
from periplus.site.pages import Pages
from periplus.web.display import visible, web_link
from periplus.web.owner import Owner
from periplus.web.playground.weights import changed, read_weights

_GRADES = {"right": True, "wrong": False, "none": None}
_RETURNS = ("/search?", "/playground?")  # pages with forms of the owner
_METHODS = ["GET", "POST"]  # a GET request is refused with a sentence
_Answer = TypeVar("_Answer")


class OwnerRoutes:
    """The handlers of `/judge` and `/playground/save`."""

    def __init__(self, owner: Owner, pages: Pages, *, saves_weights: bool) -> None:
        """*saves_weights*: the site has a playground."""
        self._owner, self._pages, self._saves_weights = owner, pages, saves_weights

    def routes(self) -> list[Route]:
        """Path to handler."""
        saving = [Route("/playground/save", self.save, methods=_METHODS)] if self._saves_weights else []
        return [Route("/judge", self.judge, methods=_METHODS), *saving]

    async def judge(self, request: Request) -> Response:
        """Keeps whether a page is right for a query, and returns to the results; a script gets an empty answer."""
        form = await self._owner.form(request)
        grade, _, text = form.get("judged", "").partition(" ")
        url = web_link(text)
        if grade not in _GRADES or not url:
            raise UsageError("the form needs right, wrong or none, and the URL of a page")
        judgements = self._owner.files.judgements
        await written(lambda: judgements.judge(form.get("query", ""), url, is_right=_GRADES[grade]))
        if "text/html" not in request.headers.get("accept", ""):
            return Response(status_code=204)
        return RedirectResponse(_back(form), 303)

    async def save(self, request: Request) -> Response:
        """Shows the lines of periplus.toml that would change; writes them when the owner confirms."""
        form = await self._owner.form(request)
        files = self._owner.files
        configured = load(files.home)
        weights = changed(read_weights(form, configured.settings.ranking), configured.settings.ranking)
        if form.get("confirmed") and weights:
            await written(lambda: write_weights(files.home, weights))
            await asyncio.to_thread(files.reload)
            return RedirectResponse(_saved(_back(form)), 303)
        lines = await written(lambda: changed_lines(files.home, weights)) if weights else []
        fixed = [name for name in weights if configured.origins.get(f"ranking.{name}") == "environment"]
        return self._pages.response(
            "playground_save.html",
            headers={"cache-control": "no-store"},
            lines=[(line[:1], visible(line[1:])) for line in lines],
            fixed=fixed,
            file=FILE_NAME,
            form={"token": form["token"], "w": form.get("w", ""), "back": _back(form), "confirmed": "1"},
            back=_back(form),
        )


def _back(form: dict[str, str]) -> str:
    """The page that the form is on; the start page when the form names a page that has no such form."""
    back = form.get("back", "")
    return back if back.startswith(_RETURNS) else "/"


def _saved(back: str) -> str:
    """The page of the playground with the weights of the site, which are the saved ones now."""
    return f"{back.partition('&w=')[0]}&saved=1" if "?" in back else back


async def written(work: Callable[[], _Answer]) -> _Answer:
    """Runs *work* in a thread; 503 with the reason when a file cannot be written."""
    try:
        return await asyncio.to_thread(work)
    except UsageError:
        raise
    except (OSError, PeriplusError) as error:
        reason = error.strerror or "input or output error" if isinstance(error, OSError) else str(error)
        raise HTTPException(503, f"That cannot be saved: {reason}.") from error
