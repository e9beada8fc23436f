"""HTML and URLs that attack a browser."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from periplus.inspector.page_records import PageLink, PageText
from periplus.model import CachedPage
from periplus.parse.html.reader_view import Block, BlockKind, ReaderView
from web.engines import CRAWLED, FACTS, SITE, FakeEngine, FakeLibrary
from web.test_hostile import PAYLOADS

GROUPS = [PAYLOADS[start : start + 8] for start in range(0, len(PAYLOADS), 8)]
_CLOSING = "-->\"'></script></style></title></textarea></xmp></svg></noscript></iframe>"


def together(payloads: list[str]) -> str:
    """All of them in one page, none inside another."""
    return "<!doctype html>" + "".join(f"<div>{payload}{_CLOSING}</div>" for payload in payloads)


def bare(content: dict[str, str]) -> ASGIApp:
    """A site that shows what it is given as it is, with no headers at all."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await Response(content[scope["path"]], media_type="text/html")(scope, receive, send)

    return app


class PoisonedLibrary(FakeLibrary):
    """Has a page for every group of payloads, with the payloads in every field that can have them."""

    def __init__(self) -> None:
        archive = {url: CachedPage(url, CRAWLED, "text/html", b"x") for url in map(poisoned_url, range(len(GROUPS)))}
        super().__init__(FakeEngine(archive=archive))
        self.page_facts = {url: _facts(GROUPS[number]) for number, url in enumerate(archive)}
        self.sites = {str(number): _site(group) for number, group in enumerate(GROUPS)}

    def text(self, url: str, query: str = "", at: float | None = None) -> PageText | None:
        """Blocks of all kinds, with some of their letters marked."""
        if url not in self.page_facts:
            return None
        group = GROUPS[int(url.rpartition("/")[2])]
        kinds = list(BlockKind) if at is None else list(BlockKind)[::-1]
        blocks = tuple(
            Block(kinds[place % len(kinds)], payload, 1 + place % 3) for place, payload in enumerate(group * len(kinds))
        )
        view = ReaderView(group[0], blocks, is_cut=True)
        return PageText(group[1], CRAWLED, group[2], group[3], view, (((1, 4), (6, 9)),) * len(blocks))


def poisoned_url(group: int) -> str:
    """The URL under which a group of payloads is shown."""
    return f"http://a.example/{group}"


def _facts(group: list[str]) -> Any:
    some = tuple(group)
    return replace(
        FACTS,
        url=group[0],
        host=group[1],
        site_name=group[2],
        title=group[3],
        opening=group[4 % len(group)],
        headings=some,
        mime=group[5 % len(group)],
        language=group[6 % len(group)],
        same_content=some,
        anchors=some,
    )


def _site(group: list[str]) -> Any:
    links = tuple(PageLink(payload, payload) for payload in group)
    return replace(SITE, host=group[0], name=group[1], newest=links[0], top=links)


def poisoned_report(url: str) -> dict[str, Any]:
    """A report about a URL with a group of payloads in every field."""
    group = GROUPS[int(url.rpartition("/")[2])]
    one, two, three = group[0], group[1], group[2]
    fetch = {
        "at": CRAWLED,
        "status": 200,
        "verdict": one,
        "reason": one,
        "detail": two,
        "mime": one,
        "bytes": 1,
        "seconds": 0.1,
        "content_id": one,
        "redirect_to": three,
        "archive": {"file": one, "offset": 1, "length": 1},
    }
    return {
        "url": one,
        "url_id": two,
        "host": one,
        "domain": one,
        "known": True,
        "state": three,
        "reason": one,
        "detail": two,
        "depth": 1,
        "admitted": two,
        "via": three,
        "attempts": 1,
        "first_seen": CRAWLED,
        "host_policy": {"delay": 1.0, "why": one, "next_fetch": 0.0, "failures": 2},
        "robots": {"allowed": False, "line": two, "line_number": 3, "status": 200, "fetched_at": CRAWLED},
        "plan": {"class": one, "last_visit": CRAWLED, "next_visit": CRAWLED},
        "versions": [{}],
        "left_out": {"reason": one, "detail": two},
        "fetches": [fetch],
        "copy_of": {"url": two, "exact": True, "bits": 0},
        "copies": list(group),
        "quality": {"score": 0.5},
        "rank": {"rank": 0.1, "percentile": 9.0, "in_links": 2, "strongest": [{"url": text} for text in group]},
        "words": {},
        "verdict": {"code": one, "sentence": two, "remedies": []},
    }


def poisoned_paths() -> list[str]:
    """The paths of all pages about a page, with every payload."""
    paths = []
    for number in range(len(GROUPS)):
        url = poisoned_url(number)
        paths += [f"{path}?url={url}" for path in ("/cached", "/cached/versions", "/page", "/panel", "/inspect")]
        paths.append(f"/cached/changes?url={url}&from=20260302050500")
        paths.append(f"/panel/site?host={number}")
    return paths
