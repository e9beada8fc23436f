"""What has this reader chosen: theme, keyboard shortcuts, results per page, new tabs, boxes, units, rules about sites?

The choices are in a cookie that the site sets only when a reader saves settings. Its value is never trusted: anything
unknown in it counts as the default.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.errors import UsageError
from periplus.site.site_rules import NO_RULES, SiteRules
from periplus.site.site_rules import decode as decode_rules

COOKIE = "settings"
THEMES = ("system", "light", "dark")
SIZES = (10, 15, 20, 30, 50, 100)  # results per page that can be chosen
_MOST = 20  # choices that are read
_SEPARATOR = "~"  # before each rule about a site; cookies have no commas


@dataclass(frozen=True, slots=True)
class Preferences:
    """The choices of one reader."""

    theme: str = THEMES[0]
    keys: bool = True  # keyboard shortcuts
    size: int | None = None  # results per page; None: as many as the site shows
    new_tab: bool = False  # open results in a new tab
    boxes: bool = True  # boxes above the results, such as the weather
    imperial: bool = False  # imperial units in boxes
    sites: SiteRules = NO_RULES  # sites to raise, to lower or to block

    def encode(self) -> str:
        """The value of the cookie, such as `theme-dark.keys-off~block:a.example`; defaults are left out."""
        choices = {
            "theme": self.theme if self.theme != THEMES[0] else "",
            "keys": "" if self.keys else "off",
            "size": str(self.size or ""),
            "tab": "new" if self.new_tab else "",
            "boxes": "" if self.boxes else "off",
            "units": "imperial" if self.imperial else "",
        }
        chosen = ".".join(f"{name}-{choice}" for name, choice in choices.items() if choice)
        return f"{chosen}{_SEPARATOR}{self.sites.encode(_SEPARATOR)}" if self.sites else chosen


def decode(value: str) -> Preferences:
    """Reads the value of a cookie."""
    chosen, _, rules = value.partition(_SEPARATOR)
    choices = from_choices(dict(part.split("-", 1) for part in chosen.split(".")[:_MOST] if "-" in part))
    return replace(choices, sites=_site_rules(rules)) if rules else choices


def _site_rules(text: str) -> SiteRules:
    """The rules in a cookie; none when the cookie was changed to anything that this site does not write."""
    try:
        return decode_rules(text, _SEPARATOR)
    except UsageError:
        return NO_RULES


def from_choices(choices: Mapping[str, str]) -> Preferences:
    """The preferences with these choices by name; an unknown choice counts as the default."""
    theme, size = choices.get("theme", ""), choices.get("size", "")
    return Preferences(
        theme=theme if theme in THEMES else THEMES[0],
        keys=choices.get("keys") != "off",
        size=int(size) if size in map(str, SIZES) else None,
        new_tab=choices.get("tab") == "new",
        boxes=choices.get("boxes") != "off",
        imperial=choices.get("units") == "imperial",
    )


_DEFAULT = Preferences()
_current: ContextVar[Preferences] = ContextVar("preferences", default=_DEFAULT)


def preferences() -> Preferences:
    """The choices of the reader whose request is being answered."""
    return _current.get()


class ReadPreferences:
    """Reads the cookie of every request, for the templates; also for error pages."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        token = _current.set(_read(Headers(scope=scope).get("cookie", "")) if scope["type"] == "http" else _DEFAULT)
        try:
            await self._app(scope, receive, send)
        finally:
            _current.reset(token)


def _read(cookies: str) -> Preferences:
    if COOKIE not in cookies:
        return _DEFAULT
    try:
        found = SimpleCookie(cookies).get(COOKIE)
    except CookieError:
        return _DEFAULT
    return decode(found.value) if found else _DEFAULT
