"""Describes a web: sites and their pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .message import Request
    from .writer import Writer

Certificate = Literal["valid", "expired", "wrong-name", "self-signed"]
Link = str | tuple[str, str]  # href, or (href, anchor text)
Headers = Mapping[str, str] | Sequence[tuple[str, str]]  # pairs when a name must appear twice


@dataclass(frozen=True)
class Page:
    """The response of one URL. A page without `body` is an HTML document built from the other fields."""

    title: str = ""
    text: str = ""  # plain words; a blank line starts a new paragraph
    links: Sequence[Link] = ()
    head: str = ""  # markup inside <head>: meta robots, canonical, base, refresh
    html: str = ""  # markup inside <body>, after the text
    lang: str = ""
    body: str | bytes | None = None  # the whole answer, instead of all of the above
    status: int | None = None  # None: 200, or 302 with a redirect
    headers: Headers = ()  # one given here replaces the header the server would have sent
    content_type: str = "text/html; charset=utf-8"  # "": send none
    redirect: str | None = None  # Location, sent as written
    etag: str | None = None  # quotes are added if missing; conditional requests get their 304
    last_modified: datetime | None = None  # must know its time zone
    encoding: Literal["", "gzip"] = ""  # used only for a client that accepts it
    chunked: bool = False  # no Content-Length: the body comes in chunks
    delay: float = 0.0  # seconds before the first byte
    drip: int = 0  # body bytes a second; 0: at once
    size: int = 0  # the body is padded with spaces to this many bytes, without holding them in memory
    handler: Handler | None = None  # decides everything itself, if set


# A handler either writes raw bytes, after which the connection is closed, or returns the page to answer with.
Handler = Callable[["Request", "Writer"], Awaitable[Page | None]]


class ComputedPages(MutableMapping[str, Page]):
    """Pages that exist only while they are asked for, so that a web of any size costs no memory.

    Single addresses can still be replaced, added and deleted: changes are kept beside the function.
    """

    def __init__(
        self,
        compute: Callable[[str], Page | None],
        paths: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """`compute` returns None for a path that does not exist; `paths` lists all paths (none, if endless)."""
        self._compute = compute
        self._paths = paths
        self._changed: dict[str, Page | None] = {}  # None: deleted

    def __getitem__(self, path: str) -> Page:
        page = self._changed[path] if path in self._changed else self._compute(path)
        if page is None:
            raise KeyError(path)
        return page

    def __setitem__(self, path: str, page: Page) -> None:
        self._changed[path] = page

    def __delitem__(self, path: str) -> None:
        self[path]  # a path that does not exist cannot be deleted
        self._changed[path] = None

    def __iter__(self) -> Iterator[str]:
        changed = dict(self._changed)
        yield from (path for path in self._paths() if changed.pop(path, True) is not None)
        yield from (path for path, page in changed.items() if page is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class Site:
    """One host. `*.farm.test` answers for every name below farm.test; `a.test:8080` for that port only."""

    host: str
    pages: MutableMapping[str, Page] = field(default_factory=dict)  # by path and query, exactly
    robots: str | Page | None = None  # None: 404. A page at /robots.txt comes first.
    scheme: Literal["http", "https"] | None = None  # None: the same pages on both
    certificate: Certificate = "valid"
    address: str = ""  # the loopback address it lives at, for example 127.0.3.7; empty: that of the web

    def page(self, path: str) -> Page | None:
        """The page at a path with its query, or None for a 404."""
        page = self.pages.get(path)
        if page is not None or path != "/robots.txt":
            return page
        if isinstance(self.robots, str):
            return Page(body=self.robots, content_type="text/plain; charset=utf-8")
        return self.robots

    def urls(self, scheme: str = "http") -> list[str]:
        """Every URL of this site that can be listed, without robots.txt."""
        return [f"{scheme}://{self.host}{path}" for path in self.pages if path != "/robots.txt"]


class Sites:
    """Finds the site of a host; sites may be added and replaced while the web runs."""

    def __init__(self, sites: Iterable[Site] = ()) -> None:
        self._by_address: dict[tuple[str | None, str], Site] = {}
        for site in sites:
            self.add(site)

    def add(self, site: Site) -> None:
        """Serve this site from now on; one of the same host and scheme is replaced."""
        self._by_address[site.scheme, site.host.lower()] = site

    def __iter__(self) -> Iterator[Site]:
        return iter(list(self._by_address.values()))

    def find(self, scheme: str | None, authority: str, host: str) -> Site | None:
        """The most exact description wins: with its port, then the name, then wildcards, shortest last."""
        host = host.removesuffix(".")
        known = self._by_address
        for name in (authority, host):
            site = known.get((scheme, name)) or known.get((None, name))
            if site is not None:
                return site
        while "." in host:
            host = host.partition(".")[2]
            site = known.get((scheme, f"*.{host}")) or known.get((None, f"*.{host}"))
            if site is not None:
                return site
        return None
