"""Tries every route of a guarded site in every way that must be refused (S9); for the route table of any application.

Each function returns a list of sentences about requests that were answered wrongly; a test expects an empty list.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from starlette.routing import BaseRoute, Mount, Route

from periplus.site.access.guard import SAFE_METHODS
from periplus.site.access.sessions import COOKIE, Sessions
from periplus.site.access.visitors import AccessOptions
from web.serving import Answer, Site

HTML, JSON = "text/html", "application/json"
_FORM = "application/x-www-form-urlencoded"
_PARAMETER = re.compile(r"\{[^}]*\}")
_LONG_AGO = 1_000_000_000.0  # seconds since the epoch
_HEADERS = {  # of answers behind the guard
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
}
_PROXIES = ({"X-Forwarded-For": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}, {"Via": "1.1 a"}, {"X-Real-IP": "::1"})


@dataclass(frozen=True)
class Target:
    """A path of the route table, with a value for each of its parameters, and a method."""

    path: str
    method: str

    @property
    def writes(self) -> bool:
        """Whether a request with this method may change something."""
        return self.method not in SAFE_METHODS


def targets(routes: Sequence[BaseRoute], value: str = "1") -> Iterator[Target]:
    """Every path and method of a route table, also of mounted ones; *value*: of the parameters."""
    for path, route in _flat(routes):
        for method in sorted(route.methods or ()):
            yield Target(_PARAMETER.sub(value, path), method)


def _flat(routes: Sequence[BaseRoute], prefix: str = "") -> Iterator[tuple[str, Route]]:
    """Every route with its whole path."""
    for route in routes:
        if isinstance(route, Mount):
            yield from _flat(route.routes, prefix + route.path)
        elif isinstance(route, Route):
            yield prefix + route.path, route
        else:
            raise TypeError(f"the checks do not know {type(route).__name__}")


@dataclass(frozen=True)
class GuardedSite:
    """A site behind the guard, and what it takes to use it."""

    site: Site
    routes: Sequence[BaseRoute]  # without static files
    options: AccessOptions
    token: str = ""  # that the site accepts
    parameter: str = "1"  # the value of the parameters in paths

    @cached_property
    def login(self) -> str:
        """The path of the login page."""
        return f"{self.options.prefix}/login"

    @cached_property
    def guarded(self) -> list[Target]:
        """All targets but the login page, which everyone may use."""
        found = targets(self.routes, value=self.parameter)
        return [target for target in found if target.path != self.login and not target.path.startswith("/static/")]

    @cached_property
    def writing(self) -> list[Target]:
        """The targets that may change something."""
        return [target for target in self.guarded if target.writes]

    @cached_property
    def reading(self) -> list[Target]:
        """The targets that only show something."""
        return [target for target in self.guarded if target.method == "GET"]

    @cached_property
    def both(self) -> set[str]:
        """The paths of which one handler answers GET and other methods."""
        found = [(path, route.methods or set()) for path, route in _flat(self.routes)]
        mixed = [path for path, methods in found if "GET" in methods and methods - SAFE_METHODS]
        return {_PARAMETER.sub(self.parameter, path) for path in mixed}

    @property
    def sessions(self) -> Sessions:
        """Makes cookies with the secret of the site."""
        return Sessions(self.options.secret, 1)

    def session(self, sessions: Sessions | None = None, password_hash: str | None = None) -> tuple[str, str]:
        """The cookie of a new session, and its form token."""
        maker = sessions or self.sessions
        session, cookie = maker.begin(password_hash or self.options.credentials().password)
        return f"{COOKIE}={cookie}", self.sessions.form_token(session)

    def send(self, target: Target, headers: Mapping[str, str], form_token: str = "") -> Answer:
        """Sends a form as a browser does; *headers* are added to its own, an empty value removes one."""
        own = {"Accept": HTML}
        if target.writes:
            own |= {"Content-Type": _FORM, "Sec-Fetch-Site": "same-origin"}
        sent = {name: value for name, value in {**own, **headers}.items() if value}
        body = urlencode({"token": form_token}).encode() if target.writes else None
        return self.site.get(target.path, sent, target.method, body)


def wrongly_answered_writes(guarded: GuardedSite) -> list[str]:
    """Writing routes x no login, wrong origin, forged form, GET, wrong Host, ended session, old password."""
    cookie, form = guarded.session()
    _, other_form = guarded.session()
    foreign = guarded.site.base.replace("127.0.0.1", "evil.example")
    refused: dict[str, tuple[int, Mapping[str, str], str]] = {
        "no login": (401, {}, form),
        "no login of a program": (401, {"Accept": JSON}, form),
        "a forged cookie": (401, {"Cookie": cookie[:-1] + ("0" if cookie[-1] != "0" else "1")}, form),
        "the cookie of another site": (401, {"Cookie": guarded.session(Sessions(b"other", 1))[0]}, form),
        "an expired session": (401, {"Cookie": guarded.session(_of_long_ago(guarded))[0]}, form),
        "a session of an old password": (401, {"Cookie": guarded.session(password_hash="old")[0]}, form),
        "a form of another site": (403, {"Cookie": cookie, "Sec-Fetch-Site": "cross-site"}, form),
        "a form of a sibling": (403, {"Cookie": cookie, "Sec-Fetch-Site": "same-site"}, form),
        "a typed address": (403, {"Cookie": cookie, "Sec-Fetch-Site": "none"}, form),
        "another origin": (403, {"Cookie": cookie, "Sec-Fetch-Site": "", "Origin": foreign}, form),
        "no origin": (403, {"Cookie": cookie, "Sec-Fetch-Site": ""}, form),
        "no form token": (403, {"Cookie": cookie}, ""),
        "a wrong form token": (403, {"Cookie": cookie}, "é"),
        "the form token of another session": (403, {"Cookie": cookie}, other_form),
        "no form token in JSON": (403, {"Cookie": cookie, "Content-Type": JSON}, form),
        "the wrong Host": (403, {"Cookie": cookie, "Host": "evil.example"}, form),
        "a wrong bearer token": (401, {"Cookie": cookie, "Authorization": "Bearer wrong"}, form),
        "the wrong Host and a token": (403, {"Authorization": f"Bearer {guarded.token}", "Host": "evil.example"}, ""),
    }
    return [*_refusals(guarded, guarded.writing, refused), *_wrongly_answered_gets(guarded, cookie)]


def _wrongly_answered_gets(guarded: GuardedSite, cookie: str) -> Iterator[str]:
    """A GET request to a path that only writes is 405, or 403 with an explanation, also with a session."""
    shown = {target.path for target in guarded.reading}
    for path in sorted({target.path for target in guarded.writing} - shown | guarded.both):
        answer = guarded.send(Target(path, "GET"), {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})
        if answer.status not in {403, 405}:
            yield f"GET {path}: {answer.status} instead of 405"


def wrongly_answered_reads(guarded: GuardedSite) -> list[str]:
    """Reading routes without login, and the headers of their answers with one."""
    cookie, (expired, _) = guarded.session()[0], guarded.session(_of_long_ago(guarded))
    refused: dict[str, tuple[int, Mapping[str, str], str]] = {
        "no login of a program": (401, {"Accept": JSON}, ""),
        "an expired session of a program": (401, {"Accept": JSON, "Cookie": expired}, ""),
        "a wrong bearer token": (401, {"Accept": JSON, "Authorization": "Bearer wrong"}, ""),
        "the wrong Host": (403, {"Cookie": cookie, "Host": "evil.example"}, ""),
    }
    found = _refusals(guarded, guarded.reading, refused)
    for target in guarded.reading:
        answer = guarded.send(target, {})
        is_api = "/api/" in target.path
        if is_api != (answer.status == 401) or (not is_api and not _leads_to_login(guarded, answer)):
            found.append(f"GET {target.path} without login: {answer.status} instead of the login page")
        found += _wrong_headers(target, guarded.send(target, {"Cookie": cookie}))
    return found


def wrongly_answered_without_password(guarded: GuardedSite) -> list[str]:
    """A site without password and tokens answers only persons on its machine, and their own forms."""
    form = guarded.sessions.form_token(None)
    refused: dict[str, tuple[int, Mapping[str, str], str]] = {
        "a name of another site": (403, {"Host": "evil.example"}, form),
        "a name that begins like an address": (403, {"Host": "127.0.0.1.evil.example"}, form),
        **{f"a proxy with {next(iter(proxy))}": (403, proxy, form) for proxy in _PROXIES},
        "a made up token": (401, {"Authorization": "Bearer "}, form),
    }
    forged: dict[str, tuple[int, Mapping[str, str], str]] = {
        "a form of another site": (403, {"Sec-Fetch-Site": "cross-site"}, form),
        "no origin": (403, {"Sec-Fetch-Site": ""}, form),
        "no form token": (403, {}, ""),
    }
    return [*_refusals(guarded, guarded.guarded, refused), *_refusals(guarded, guarded.writing, forged)]


def refused_visitors(guarded: GuardedSite) -> list[str]:
    """Requests with a session or a token that the guard refuses; the answers of handlers may be anything else.

    This calls every writing route, so it changes what the application can change.
    """
    cookie, form = guarded.session()
    ways: dict[str, tuple[Mapping[str, str], str]] = {
        "a session": ({"Cookie": cookie}, form),
        "a session in an older browser": ({"Cookie": cookie, "Sec-Fetch-Site": "", "Origin": guarded.site.base}, form),
        "a script": ({"Cookie": cookie, "Content-Type": JSON, "X-Form-Token": form}, ""),
        "a token": ({"Authorization": f"Bearer {guarded.token}", "Sec-Fetch-Site": ""}, ""),
    }
    return [
        f"{target.method} {target.path} with {way}: {status}"
        for target in guarded.guarded
        for way, (headers, token) in ways.items()
        if target.path != f"{guarded.options.prefix}/logout"
        if (status := guarded.send(target, headers, token).status) in {401, 403, 405}
    ]


def _refusals(
    guarded: GuardedSite, tried: Sequence[Target], ways: Mapping[str, tuple[int, Mapping[str, str], str]]
) -> list[str]:
    """The requests that were not refused with the status that they should be."""
    assert tried, "the application has no such routes"
    return [
        f"{target.method} {target.path} with {way}: {status} instead of {expected}"
        for target in tried
        for way, (expected, headers, token) in ways.items()
        if (status := guarded.send(target, headers, token).status) != expected
    ]


def _of_long_ago(guarded: GuardedSite) -> Sessions:
    return Sessions(guarded.options.secret, 1, clock=lambda: _LONG_AGO)


def _leads_to_login(guarded: GuardedSite, answer: Answer) -> bool:
    return answer.status == 303 and answer.headers["location"].startswith(f"{guarded.login}?next=")


def _wrong_headers(target: Target, answer: Answer) -> Iterator[str]:
    for name, value in _HEADERS.items():
        if answer.headers.get(name) != value:
            yield f"GET {target.path}: {name} is {answer.headers.get(name)}"
    if "frame-ancestors 'none'" not in answer.headers.get("content-security-policy", ""):
        yield f"GET {target.path}: can be framed"
    if answer.headers.get("content-type", "").startswith(HTML):
        page = answer.page
        if page.select("form[method=post]") and page.select("meta[name=referrer]")[0].attrs["content"] != "same-origin":
            yield f"GET {target.path}: its forms are sent without their origin"
