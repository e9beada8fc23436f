"""Normalizes URLs: every page gets one canonical URL.

Parsing and joining follow the WHATWG standard (ada-url). On top of it, a canonical URL has

* no fragment and no credentials;
* no dot after the host name: ``example.org.`` is ``example.org``, and must not be fetched twice as fast;
* no escaped unreserved characters, upper-case digits in other escapes, and ``%25`` for a stray ``%``;
* no session parameters in the path, and then no dot segments that they were hiding (``/a/..;sid=1``);
* no tracking, session or empty parameters in the query, and no empty query.

http and https stay separate: only a redirect or a canonical link can show that they are the same page.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple, Self

import ada_url
import xxhash
from publicsuffixlist import PublicSuffixList

from periplus.config import Addresses
from periplus.errors import BadUrl

# Every % except escapes that are canonical already: upper-case digits, not of an unreserved character. Most escapes are
# (Russian or Chinese URLs consist of them), and skipping one costs a tenth of replacing it.
_WRONG_ESCAPE = re.compile("%(?![0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF])([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CREDENTIALS = re.compile(r"^(https?://)[^/?#@]*@")
_ROOT_DOT = re.compile(r"^(https?://[^/]*[^/.])\.(?=[:/])")
_PATH_PARAMETER = re.compile(r";([^;/=]*)=[^;/]*")
# Absolute URLs that parsing does not change, as most links to other sites; parsing costs three times as much.
_ALREADY_PARSED = re.compile(
    r"https?://(?:[a-z0-9](?:-?[a-z0-9])*+\.)++[a-z]{2,}+"  # a last label of letters cannot be an IPv4 address
    r"/(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+/)*+(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+)?+"
    r"(?:\?[A-Za-z0-9_.~/@&=+,:-]*+)?+"
)
_NOT_WEB = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE | re.ASCII)  # by its scheme
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")
_WITHOUT_SCHEME = re.compile(
    rf"(?:(?P<local>localhost|{_IPV4.pattern}|\[[0-9a-f:.]+\])|(?:[^\s/?#@:.]+\.)+[^\s/?#@:.]{{2,}}\.?)"
    r"(?::\d+)?(?:[/?#].*)?",
    re.IGNORECASE,
)


class Url(NamedTuple):
    """One canonical URL and the names derived from it."""

    text: str  # the canonical form: equal texts are equal pages
    host: str  # lower-case ASCII name or address literal, no port: the unit of politeness
    origin: str  # scheme, host and port: the unit of robots.txt

    @property
    def id(self) -> bytes:
        """The 128-bit identity used in every file."""
        return url_id(self.text)

    @property
    def domain(self) -> str:
        """The registrable domain: the unit of ownership and caps."""
        return registrable_domain(self.host)

    @property
    def path(self) -> str:
        """Path and query, as sent in the request line."""
        return self.text[len(self.origin) :]


class Canonicalizer:
    """Turns links into canonical URLs; one per crawl, because the parameter lists are settings."""

    def __init__(self, tracking: Iterable[str] = (), sessions: Iterable[str] = ()) -> None:
        """Drop query parameters, ``name*`` by prefix; *sessions* are also dropped from paths (``;name=value``)."""
        self.tracking, self.sessions = tuple(tracking), tuple(sessions)
        self._session_names = _NameList(self.sessions)
        self._dropped_names = _NameList([*self.tracking, *self.sessions])

    @classmethod
    def of(cls, settings: Addresses) -> Self:
        """Build it from the settings."""
        return cls(settings.tracking_parameters, settings.session_parameters)

    def join(self, base: str, href: str) -> str | None:
        """Return the canonical URL of a link on the page *base*, or None when it is not http or https."""
        if _NOT_WEB.match(href):
            return None
        try:
            text = href if _ALREADY_PARSED.fullmatch(href) else ada_url.join_url(base, href)
        except ValueError:
            return None
        return self._finish(text)

    def canonical(self, raw: str) -> str | None:
        """Return the canonical form of an absolute URL, or None when it is not http or https."""
        try:
            text = raw if _ALREADY_PARSED.fullmatch(raw) else ada_url.normalize_url(raw)
        except ValueError:
            return None
        return self._finish(text)

    def _finish(self, text: str) -> str | None:
        if not text.startswith(("http://", "https://")):
            return None
        if "#" in text:
            text = text.partition("#")[0]
        if "@" in text:
            text = _CREDENTIALS.sub(r"\1", text)
        if "./" in text or ".:" in text:
            text = _ROOT_DOT.sub(r"\1", text)
        if "%" in text:
            text = _WRONG_ESCAPE.sub(_fix_escape, text)
        if ";" in text:
            text = self._without_path_sessions(text)
        if "?" not in text:
            return text
        path, _, query = text.partition("?")
        dropped = self._dropped_names
        kept = "&".join([part for part in query.split("&") if part and not dropped.has(part.partition("=")[0])])
        return f"{path}?{kept}" if kept else path

    def _without_path_sessions(self, text: str) -> str:
        start = text.index("/", len("https://"))  # a host name may contain semicolons too
        path, mark, query = text[start:].partition("?")
        shorter = _PATH_PARAMETER.sub(lambda found: "" if self._session_names.has(found[1]) else found[0], path)
        if shorter == path:
            return text
        # The rest may be a dot segment ("..;sid=1"), so it is normalized again.
        return ada_url.normalize_url(f"{text[:start]}{shorter}{mark}{query}")


class _NameList:
    """Parameter names to drop, in any case; ``name*`` matches all names with that prefix."""

    __slots__ = ("_exact", "_prefixes")

    def __init__(self, names: Iterable[str]) -> None:
        lowered = [name.lower() for name in names]
        self._exact = frozenset(name for name in lowered if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in lowered if name.endswith("*"))

    def has(self, name: str) -> bool:
        name = name.lower()
        return name in self._exact or name.startswith(self._prefixes)


def _fix_escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"  # a stray percent sign could form an escape with the next characters
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def parse(raw: str, canonicalizer: Canonicalizer | None = None) -> Url:
    """Parse a URL that a person typed; raises BadUrl with the problem.

    Without a scheme, it is https; for localhost and IP addresses http.
    """
    raw = raw.strip()
    if found := _WITHOUT_SCHEME.fullmatch(raw):
        raw = f"{'http' if found['local'] else 'https'}://{raw}"
    text = (canonicalizer or Canonicalizer()).canonical(raw)
    if text is None:
        hint = "A URL starts with http:// or https://, for example https://example.org/"
        raise BadUrl(f"{_shortened(raw)} cannot be crawled", _why_invalid(raw), hint)
    return split(text)


def _why_invalid(raw: str) -> str:
    scheme, colon, _ = raw.partition(":")
    if colon and scheme.lower() in {"http", "https"}:
        return "its host or port is invalid"
    return f"the scheme {_shortened(scheme)} is not http or https" if ada_url.check_url(raw) else "not a URL"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:200]}...")


def split(text: str) -> Url:
    """Split a canonical URL into its parts."""
    start = text.index("//") + 2
    end = text.find("/", start)
    return Url(text, host_of(text), text[:end])


def host_of(text: str) -> str:
    """Return the host name of a canonical URL, without its port."""
    authority = text.split("/", 3)[2]
    if ":" not in authority or authority.endswith("]"):
        return authority
    return authority.rpartition(":")[0]


def url_id(text: str) -> bytes:
    """Return the 128-bit identity of a canonical URL."""
    return xxhash.xxh3_128_digest(text.encode())


def url_key(text: str) -> int:
    """Return the 64-bit key of a URL in the seen filter."""
    return xxhash.xxh3_64_intdigest(text.encode())


@lru_cache(maxsize=2)
def _suffixes(*, encoded: bool) -> PublicSuffixList:
    """Load the public suffix list; encoding its non-ASCII suffixes takes three times as long as reading it."""
    return PublicSuffixList(accept_encoded_idn=encoded)


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """Return the part of a host name that one registrant owns; an IP address or a bare suffix is its own domain."""
    if host.startswith("[") or _IPV4.fullmatch(host):
        return host
    return _suffixes(encoded="xn--" in host).privatesuffix(host) or host
