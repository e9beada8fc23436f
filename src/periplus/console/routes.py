"""The routes of the console: every view as a page and as JSON, every action as a form and for programs."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from periplus.console import charts, display
from periplus.console.actions import crawl, generations, hosts, scope
from periplus.console.actions.action import Action, Desk, Form, Outcome
from periplus.console.live import EventStream
from periplus.console.reader import Query, Sources, View
from periplus.console.views import history, now, pages, problems, rules
from periplus.console.views import hosts as host_views
from periplus.site.access.visitors import visitor
from periplus.site.error_pages import JSON
from periplus.site.forms import read_form
from periplus.site.pages import Pages

PREFIX = "/console"
TEMPLATES = Path(__file__).parent / "templates"
_THREADS = 3
_FORM_BYTES = 1 << 20
_NOTICE_LENGTH = 1_500
_UNLISTED = {"x-robots-tag": "noindex, nofollow", "cache-control": "no-store", "referrer-policy": "same-origin"}
_Answer = TypeVar("_Answer")


class Page(NamedTuple):
    """A page of the console; its template has the same name."""

    name: str  # the last part of its path
    title: str
    view: View


GROUPS: tuple[tuple[str, tuple[Page, ...]], ...] = (
    (
        "Now",
        (
            Page("", "Overview", now.overview),
            Page("workers", "Workers", now.workers),
            Page("commands", "Commands", now.commands),
        ),
    ),
    (
        "Crawl",
        (
            Page("hosts", "Hosts", host_views.hosts),
            Page("seeds", "Seeds", rules.seeds),
            Page("scope", "Scope", rules.scope),
            Page("traps", "Traps", rules.traps),
            Page("robots", "robots.txt", rules.robots),
        ),
    ),
    (
        "Questions",
        (
            Page("inspect", "Inspector", pages.inspect),
            Page("errors", "Errors", problems.errors),
            Page("refusals", "Refusals", problems.refusals),
        ),
    ),
    (
        "History",
        (
            Page("runs", "Runs", history.runs),
            Page("generations", "Generations", history.generations),
            Page("settings", "Settings", history.settings),
        ),
    ),
)
_UNLINKED = (Page("host", "Host", host_views.host), Page("url", "URL", pages.url))
PAGES = (*(page for _, group in GROUPS for page in group), *_UNLINKED)
ACTIONS = (*crawl.ACTIONS, *hosts.ACTIONS, *generations.ACTIONS, *scope.ACTIONS)


class Console:
    """The handlers of the console. The guard has admitted every request, and has checked every form."""

    def __init__(self, sources: Sources, pages: Pages) -> None:
        self._sources, self._pages = sources, pages
        self._pool = ThreadPoolExecutor(_THREADS, "console")
        self._events = EventStream(sources, pages, self._work)
        pages.filters(display.FILTERS)
        pages.define(console_link=display.link, charts=charts, groups=GROUPS, visitor=visitor)

    def routes(self) -> list[Route]:
        """Path to handler."""
        shown = [Route(f"{PREFIX}/{page.name}", self._page(page)) for page in PAGES]
        data = [Route(f"{PREFIX}/api/{page.name or 'overview'}", self._data(page)) for page in PAGES]
        forms = [Route(f"{PREFIX}/do/{action.name}", self._form(action), methods=["POST"]) for action in ACTIONS]
        orders = [Route(f"{PREFIX}/api/{action.name}", self._order(action), methods=["POST"]) for action in ACTIONS]
        own = [Route(PREFIX, self.start), Route(f"{PREFIX}/events", self._events.answer)]
        return [*own, *shown, *data, *forms, *orders]

    async def start(self, request: Request) -> Response:
        """The address without its last slash."""
        del request
        return RedirectResponse(f"{PREFIX}/", 308)

    # -- reading ------------------------------------------------------------------------------------------------

    def _page(self, page: Page) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            query = {name: value for name, value in request.query_params.items() if name not in ("said", "seal")}
            data, moment = await self._viewed(page, query)
            name = page.name or "overview"
            api = f"{PREFIX}/api/{name}" + (f"?{urlencode(query, errors='replace')}" if query else "")
            return self._rendered(f"{name}.html", request, title=page.title, data=data, now=moment, api=api)

        return answer

    def _data(self, page: Page) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            data, _ = await self._viewed(page, dict(request.query_params))
            return _json(data)

        return answer

    async def _viewed(self, page: Page, query: Query) -> tuple[dict[str, Any], float]:
        """The data of a view, and the time at which it was read."""

        def read() -> tuple[dict[str, Any], float]:
            with self._sources.reading() as reader:
                return page.view(self._sources, reader, query), reader.now

        return await self._work(read)

    def _rendered(self, template: str, request: Request, **values: Any) -> Response:
        query = request.query_params
        back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        common: dict[str, Any] = {
            "path": request.url.path,
            "back": back,
            "notice": _notice(query),
        }
        return self._pages.response(template, headers=_UNLISTED, token=visitor().form_token, **common | values)

    # -- acting -------------------------------------------------------------------------------------------------

    def _form(self, action: Action) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            _require_person()
            form = await read_form(request, _FORM_BYTES)
            if not form.get("confirmed"):
                if action.name == "scope":
                    return await self._scope_change(request, form)
                if action.question is not None:
                    fields = {name: value for name, value in form.items() if name != "token"}
                    question = action.question(form)
                    values = {"title": action.label, "action": action, "question": question, "fields": fields}
                    return self._rendered("confirm.html", request, return_to=_back(form), **values)
            outcome = await self._perform(action, form, "console")
            return RedirectResponse(_with_notice(_back(form), outcome.sentence), 303)

        return answer

    def _order(self, action: Action) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            form = await read_form(request, _FORM_BYTES)
            if action.name == "scope" and not form.get("confirmed"):
                return _json(await self._dry_run(form))
            outcome = await self._perform(action, form, "api")
            return _json({"sentence": outcome.sentence, **outcome.facts})

        return answer

    async def _perform(self, action: Action, form: Form, origin: str) -> Outcome:
        return await self._work(lambda: action.perform(Desk(self._sources, origin), form))

    async def _scope_change(self, request: Request, form: Form) -> Response:
        """What another scope would do, with the button that writes it."""
        fields = {name: value for name, value in form.items() if name != "token"}
        found = await self._dry_run(form)
        return self._rendered("scope_change.html", request, title="Scope", data=found, fields=fields)

    async def _dry_run(self, form: Form) -> dict[str, Any]:
        def check() -> dict[str, Any]:
            with self._sources.reading() as reader:
                return scope.dry_run(reader, form)

        return await self._work(check)

    async def _work(self, work: Callable[[], _Answer]) -> _Answer:
        """Runs in a thread of the console, so that neither searches nor other views wait."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _json(data: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(data, default=str), headers=_UNLISTED | {"content-type": JSON})


def _back(form: Form) -> str:
    """The page of the console to return to."""
    back = form.get("back", "")
    is_own = back.startswith(f"{PREFIX}/") and not urlsplit(back).netloc and "\\" not in back
    return back.partition("#")[0] if is_own else f"{PREFIX}/"


def _with_notice(back: str, sentence: str) -> str:
    """The address of a page that shows a sentence; only this site can write such an address."""
    path, _, query = back.partition("?")
    kept = [part for part in query.split("&") if part and not part.startswith(("said=", "seal="))]
    text = sentence[:_NOTICE_LENGTH]
    return (
        f"{path}?{'&'.join([*kept, urlencode({'said': text, 'seal': _seal(text)}, errors='replace', quote_via=quote)])}"
    )


def _notice(query: Mapping[str, str]) -> str:
    """The sentence in the address of the page, if this site has written it."""
    text, key = query.get("said", ""), visitor().form_token
    is_ours = bool(key) and hmac.compare_digest(query.get("seal", "").encode(), _seal(text).encode())
    return text if is_ours else ""


def _seal(text: str) -> str:
    key = visitor().form_token
    return hmac.digest(key.encode(), text.encode("utf-8", "replace"), "sha256").hex()[:32]


def _require_person() -> None:
    if not visitor().form_token:
        raise HTTPException(403, "A program cannot send the forms of the console. Send the request to /console/api/.")
