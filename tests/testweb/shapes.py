"""Generates webs of a given shape."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from . import prose
from .page import ComputedPages, Page, Site

_NUMBERED = re.compile(r"/page/([1-9]\d{0,8})")
_NODE = re.compile(r"/node/(\d{1,8}(?:-\d{1,8})*)")
_CALENDAR = re.compile(r"/calendar/(\d{4,6})/(0[1-9]|1[0-2])(?:/(0[1-9]|1\d|2[0-8]))?")
_SESSION = re.compile(r"/shop/(\d{1,8})(?:\?sid=[0-9a-f]{16})?")


def chain(host: str, n: int) -> Site:
    """n pages in a row: / links to /page/1, that to /page/2, and so on."""

    def compute(path: str) -> Page | None:
        number = _number(path, n)
        if number is None:
            return None
        return _page(f"{host}{path}", [] if number == n - 1 else [_link(host, _path(number + 1))])

    return Site(host, ComputedPages(compute, lambda: map(_path, range(n))))


def tree(host: str, fanout: int, depth: int) -> Site:
    """Each page links to `fanout` pages below it, `depth` levels under /; no page is linked twice.

    A page is named by the way down to it, /node/2-0-1: one segment, or deep pages would look like a trap.
    """

    def below(steps: tuple[int, ...]) -> list[tuple[int, ...]]:
        return [(*steps, i) for i in range(fanout)] if len(steps) < depth else []

    def compute(path: str) -> Page | None:
        match = _NODE.fullmatch(path)
        steps = tuple(int(step) for step in match[1].split("-")) if match else ()
        if path != _node(steps) or len(steps) > depth or any(step >= fanout for step in steps):
            return None
        return _page(f"{host}{path}", [_link(host, _node(child)) for child in below(steps)])

    def paths() -> Iterable[str]:
        level: list[tuple[int, ...]] = [()]
        while level:
            yield from map(_node, level)
            level = [child for steps in level for child in below(steps)]

    return Site(host, ComputedPages(compute, paths))


def mesh(host: str, n: int, links: int = 5, seed: int = 0) -> Site:
    """n pages with about `links` links each to others of the host; all can be reached from /."""
    return _woven(host, n, links, seed, lambda _: [])


def many_hosts(n_hosts: int, pages_per_host: int, seed: int = 0, *, scheme: str = "http") -> list[Site]:
    """Hosts h0001.test, h0002.test, ... Each is a mesh, and its pages also link to other hosts.

    Every page can be reached from http://h0001.test/.
    """

    def site(number: int) -> Site:
        host = _host(number)

        def outward(page: int) -> list[tuple[str, str]]:
            strangers = prose.draw(f"{seed} from {host} {page}", 2, n_hosts * pages_per_host)
            if page == 0:
                strangers.append((number + 1) % n_hosts * pages_per_host)  # a ring: every host is reached
            targets = [divmod(stranger, pages_per_host) for stranger in dict.fromkeys(strangers)]
            links = [(_host(other), *_link(_host(other), _path(there), seed)) for other, there in targets]
            return [(f"{scheme}://{other}{path}", anchor) for other, path, anchor in links if other != host]

        return _woven(host, pages_per_host, 5, seed, outward)

    return [site(number) for number in range(n_hosts)]


def calendar(host: str) -> Site:
    """A trap without end: every month links to its days and to the months before and after it."""

    def compute(path: str) -> Page | None:
        match = _CALENDAR.fullmatch(path)
        if match is None:
            return _page(f"{host}{path}", [("/calendar/2024/01", "Calendar")]) if path == "/" else None
        months = int(match[1]) * 12 + int(match[2]) - 1
        around = [_month(months), _month(months - 1), _month(months + 1)]
        days = [] if match[3] else [f"{path}/{day:02}" for day in range(1, 29)]
        return _page(f"{host}{path}", [(link, link.removeprefix("/calendar/")) for link in around + days])

    return Site(host, ComputedPages(compute))


def session_maze(host: str, items: int = 20) -> Site:
    """A few pages under endless addresses: every link carries a session id that was never seen before."""

    def compute(path: str) -> Page | None:
        match = _SESSION.fullmatch(path)
        item = int(match[1]) if match else 0
        if item >= items or not (match or path == "/"):
            return None
        others = dict.fromkeys([(item + 1) % items, *prose.draw(f"{host} {item}", 4, items)])
        links = [(_session(f"{host}{path}", i), prose.title(f"{host} item {i}")) for i in others]
        return _page(f"{host} item {item}", links)

    return Site(host, ComputedPages(compute))


def _woven(host: str, n: int, links: int, seed: int, outward: Callable[[int], list[tuple[str, str]]]) -> Site:
    """A mesh whose pages may also lead elsewhere."""

    def compute(path: str) -> Page | None:
        number = _number(path, n)
        if number is None:
            return None
        key = f"{seed} {host}{path}"
        inward = [_link(host, _path(i), seed) for i in _mesh_targets(key, number, n, links)]
        return _page(key, inward + outward(number))

    return Site(host, ComputedPages(compute, lambda: map(_path, range(n))))


def _mesh_targets(key: str, number: int, n: int, links: int) -> list[int]:
    """The children of a binary tree (of a chain, for a single link) reach every page; the rest is chance."""
    children = [number + 1] if links == 1 else [2 * number + 1, 2 * number + 2]
    chance = prose.draw(f"links {key}", max(0, links - len(children)), n)
    return [i for i in dict.fromkeys(children + chance) if i < n and i != number]


def _page(key: str, links: list[tuple[str, str]]) -> Page:
    return Page(title=prose.title(key), text=prose.text(key), links=links, lang="en")


def _link(host: str, path: str, seed: int | None = None) -> tuple[str, str]:
    """The anchor text is the title of the page it leads to."""
    return path, prose.title(f"{host}{path}" if seed is None else f"{seed} {host}{path}")


def _host(number: int) -> str:
    return f"h{number + 1:04}.test"


def _path(number: int) -> str:
    return f"/page/{number}" if number else "/"


def _number(path: str, n: int) -> int | None:
    match = _NUMBERED.fullmatch(path)
    number = int(match[1]) if match else 0
    return number if number < n and (match or path == "/") else None


def _node(steps: tuple[int, ...]) -> str:
    return f"/node/{'-'.join(map(str, steps))}" if steps else "/"


def _month(months: int) -> str:
    return f"/calendar/{months // 12:04}/{months % 12 + 1:02}"


def _session(key: str, item: int) -> str:
    first, second = prose.draw(f"session {key} {item}", 2, 1 << 32)
    return f"/shop/{item}?sid={first:08x}{second:08x}"
