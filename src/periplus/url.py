"""Which address is this, really?

Parsing and joining follow the WHATWG standard (ada-url). On top of it, one page gets one spelling:

* no fragment and no credentials;
* no dot after the whole host name: ``example.org.`` is ``example.org``, and must not be fetched twice as fast;
* unreserved characters are never escaped, other escapes have capital digits, and a stray ``%`` is written ``%25``;
* no session parameters in the path, and then no dot segments they were hiding (``/a/..;sid=1``);
* no tracking, session or empty parameters in the query, and no empty query.

http and https stay apart: only a redirect or a canonical link may tell that they are the same page.
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

# Every % but the escapes that are right already: capital digits, not of an unreserved character. Most escapes are (a
# Russian or Chinese address is made of them), and passing over one costs a tenth of looking at it.
_WRONG_ESCAPE = re.compile("%(?![0189A-F][0-9A-F]|2[0-9A-CF]|3[A-F]|40|5[B-E]|60|7[BCDF])([0-9A-Fa-f]{2})?")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CREDENTIALS = re.compile(r"^(https?://)[^/?#@]*@")
_ROOT_DOT = re.compile(r"^(https?://[^/]*[^/.])\.(?=[:/])")
_PATH_PARAMETER = re.compile(r";([^;/=]*)=[^;/]*")
# Absolute addresses that parsing leaves as they are, as most links to other sites; parsing costs three times as much.
_PARSED = re.compile(
    r"https?://(?:[a-z0-9](?:-?[a-z0-9])*+\.)++[a-z]{2,}+"  # no name of letters makes the whole an IPv4 address
    r"/(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+/)*+(?:[A-Za-z0-9_~-][A-Za-z0-9_.~-]*+)?+"
    r"(?:\?[A-Za-z0-9_.~/@&=+,:-]*+)?+"
)
_NOT_WEB = re.compile(r"(?!https?:)[a-z][a-z0-9+.-]*+:", re.IGNORECASE | re.ASCII)  # by its scheme
_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


class Url(NamedTuple):
    """One canonical address and the names derived from it."""

    text: str  # the canonical spelling: equal texts are equal pages
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
    """Turns what a page links to into canonical addresses; one per crawl, because the parameter lists are settings."""

    def __init__(self, tracking: Iterable[str] = (), sessions: Iterable[str] = ()) -> None:
        """Both name query parameters to drop, ``name*`` by prefix; sessions also vanish from ``/path;name=value``."""
        self.tracking, self.sessions = tuple(tracking), tuple(sessions)
        self._session = _NameList(self.sessions)
        self._noise = _NameList([*self.tracking, *self.sessions])

    @classmethod
    def of(cls, settings: Addresses) -> Self:
        """By the rules that are set."""
        return cls(settings.tracking_parameters, settings.session_parameters)

    def join(self, base: str, href: str) -> str | None:
        """The canonical address of a link found on the page *base*, or None when it does not lead to the web."""
        if _NOT_WEB.match(href):
            return None
        try:
            text = href if _PARSED.fullmatch(href) else ada_url.join_url(base, href)
        except ValueError:
            return None
        return self._finish(text)

    def canonical(self, raw: str) -> str | None:
        """The canonical spelling of an absolute address, or None when it is not one of the web."""
        try:
            text = raw if _PARSED.fullmatch(raw) else ada_url.normalize_url(raw)
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
            text = _WRONG_ESCAPE.sub(_right_escape, text)
        if ";" in text:
            text = self._without_path_sessions(text)
        if "?" not in text:
            return text
        path, _, query = text.partition("?")
        noise = self._noise
        kept = "&".join([part for part in query.split("&") if part and not noise.has(part.partition("=")[0])])
        return f"{path}?{kept}" if kept else path

    def _without_path_sessions(self, text: str) -> str:
        start = text.index("/", len("https://"))  # a host name may hold semicolons too
        path, mark, query = text[start:].partition("?")
        shorter = _PATH_PARAMETER.sub(lambda found: "" if self._session.has(found[1]) else found[0], path)
        if shorter == path:
            return text
        # What is left may be a dot segment ("..;sid=1"), so it is read again.
        return ada_url.normalize_url(f"{text[:start]}{shorter}{mark}{query}")


class _NameList:
    """Parameter names to drop, in any case; ``name*`` stands for all that begin so."""

    __slots__ = ("_exact", "_prefixes")

    def __init__(self, names: Iterable[str]) -> None:
        lowered = [name.lower() for name in names]
        self._exact = frozenset(name for name in lowered if not name.endswith("*"))
        self._prefixes = tuple(name[:-1] for name in lowered if name.endswith("*"))

    def has(self, name: str) -> bool:
        name = name.lower()
        return name in self._exact or name.startswith(self._prefixes)


def _right_escape(match: re.Match[str]) -> str:
    if match[1] is None:
        return "%25"  # a stray percent sign; left alone it could form an escape with what follows
    character = chr(int(match[1], 16))
    return character if character in _UNRESERVED else match[0].upper()


def parse(raw: str, canonicalizer: Canonicalizer | None = None) -> Url:
    """The address a person typed, or BadUrl with what is wrong about it."""
    raw = raw.strip()
    text = (canonicalizer or Canonicalizer()).canonical(raw)
    if text is None:
        hint = "An address starts with http:// or https://, for example https://example.org/"
        raise BadUrl(f"{_shown(raw)} cannot be crawled", _complaint(raw), hint)
    return split(text)


def _complaint(raw: str) -> str:
    scheme, colon, _ = raw.partition(":")
    if colon and scheme.lower() in {"http", "https"}:
        return "its host or port is not valid"
    return f"the scheme {_shown(scheme)} is not http or https" if ada_url.check_url(raw) else "not a web address"


def _shown(text: str) -> str:
    return repr(text if len(text) <= 200 else f"{text[:200]}...")


def split(text: str) -> Url:
    """The parts of an address that is canonical already."""
    start = text.index("//") + 2
    end = text.find("/", start)
    return Url(text, host_of(text), text[:end])


def host_of(text: str) -> str:
    """The host name of a canonical address, without its port."""
    authority = text.split("/", 3)[2]
    if ":" not in authority or authority.endswith("]"):
        return authority
    return authority.rpartition(":")[0]


def url_id(text: str) -> bytes:
    """The 128-bit identity of a canonical address."""
    return xxhash.xxh3_128_digest(text.encode())


def url_key(text: str) -> int:
    """The shorter identity, of 64 bits, that the seen filter holds."""
    return xxhash.xxh3_64_intdigest(text.encode())


@lru_cache(maxsize=2)
def _suffixes(*, encoded: bool) -> PublicSuffixList:
    """The public suffixes; to encode those with letters beyond ASCII takes three times as long as to read them all."""
    return PublicSuffixList(accept_encoded_idn=encoded)


@lru_cache(maxsize=65536)
def registrable_domain(host: str) -> str:
    """The part of a host name that one registrant owns; an address literal or a bare suffix is its own domain."""
    if host.startswith("[") or _IPV4.fullmatch(host):
        return host
    return _suffixes(encoded="xn--" in host).privatesuffix(host) or host
