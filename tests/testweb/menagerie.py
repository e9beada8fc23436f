"""Hosts that misbehave, one host per kind."""

from __future__ import annotations

from dataclasses import dataclass

from . import hostile, prose
from .page import ComputedPages, Handler, Page, Site
from .shapes import calendar, session_maze

_OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_SITEMAP = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</urlset>'
_INDEX = '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{}</sitemapindex>'


@dataclass(frozen=True)
class Beast:
    """One kind of bad host, and the reasons with which its front page may end."""

    name: str
    site: Site
    ends: frozenset[str]

    @property
    def seed(self) -> str:
        return f"http://{self.site.host.replace('*', 'www')}/"


def menagerie() -> list[Beast]:
    """Return all kinds."""
    beasts = [*_answers(), *_redirects(), *_robots(), *_sitemaps(), *_traps(), *_moods(), *_pages()]
    assert len({beast.name for beast in beasts}) == len(beasts)
    return beasts


def _beast(name: str, page: Page, ends: str, robots: str | Page | None = None, **more: Page) -> Beast:
    """A host named after its kind; `ends` lists reasons, separated by spaces."""
    pages = {"/": page} | {f"/{path}": other for path, other in more.items()}
    return Beast(name, Site(f"{name}.test", pages, robots), frozenset(ends.split()))


def _answers() -> list[Beast]:
    """Servers that violate HTTP."""
    kinds: dict[str, tuple[Handler, str]] = {
        "reset": (hostile.reset, "cut_short"),
        "hang-up": (hostile.hang_up, "cut_short"),
        "silence": (hostile.silence, "timeout bad_http"),
        "not-http": (hostile.not_http, "bad_http"),
        "reset-midway": (hostile.reset_midway, "cut_short"),
        "short-body": (hostile.short_body, "cut_short"),
        "long-body": (hostile.long_body, "ok"),
        "false-chunk": (hostile.false_chunk, "cut_short bad_http"),
        "endless-body": (hostile.endless_body, "ok"),
        "endless-chunks": (hostile.endless_chunks, "ok"),
        "endless-headers": (hostile.endless_headers, "bad_http"),
        "endless-interim": (hostile.endless_interim, "bad_http timeout"),
        "slow-headers": (hostile.slow_headers, "timeout too_slow bad_http"),
        "drip": (hostile.drip, "timeout too_slow bad_http"),
        "gzip-bomb": (hostile.gzip_bomb, "ok"),
        "brotli-bomb": (hostile.brotli_bomb, "ok"),
        "zstd-bomb": (hostile.zstd_bomb, "ok bad_http"),
        "double-bomb": (hostile.double_bomb, "ok"),
        "false-gzip": (hostile.false_gzip, "bad_http"),
        "huge-chunk": (hostile.raw(_OK + b"Transfer-Encoding: chunked\r\n\r\n" + b"F" * 40 + b"\r\n"), "bad_http"),
        "two-lengths": (hostile.raw(_OK + b"Content-Length: 3\r\nContent-Length: 9\r\n\r\nabc"), "bad_http"),
        "negative-length": (hostile.raw(_OK + b"Content-Length: -5\r\n\r\nabc"), "bad_http"),
        "no-headers": (hostile.raw(b"<html>what headers?"), "bad_http"),
        "odd-status": (hostile.raw(b"HTTP/1.1 999 Enough\r\nContent-Length: 0\r\n\r\n"), "http_error bad_http"),
    }
    return [_beast(name, Page(handler=handler), ends) for name, (handler, ends) in kinds.items()]


def _redirects() -> list[Beast]:
    chain = {f"hop{n}": Page(redirect=f"/hop{n + 1}") for n in range(100)}
    endless = ComputedPages(lambda path: Page(redirect=f"{path}x"))
    return [
        _beast("loop", Page(redirect="/"), "redirected"),
        _beast("ring", Page(redirect="/there"), "redirected", there=Page(redirect="/")),
        _beast("chain", Page(redirect="/hop0"), "redirected", **chain),
        Beast("endless-chain", Site("endless-chain.test", endless), frozenset({"redirected"})),
        _beast("to-file", Page(redirect="file:///etc/passwd"), "not_web"),
        _beast("to-script", Page(redirect="javascript:alert(1)"), "not_web"),
        _beast("to-nowhere", Page(status=302), "http_error"),
        _beast("to-far", Page(redirect="/" + "x" * 50_000), "redirected"),
    ]


def _robots() -> list[Beast]:
    plain = "text/plain"
    return [
        _beast("robots-500", Page(), "robots.txt", Page(status=500)),
        _beast("robots-429", Page(), "robots.txt", Page(status=429)),
        _beast("robots-silence", Page(), "robots.txt", Page(handler=hostile.silence)),
        _beast("robots-loop", Page(), "ok", Page(redirect="/robots.txt")),
        _beast("robots-huge", Page(), "ok", Page(body="#\n", size=500_000_000, content_type=plain)),
        _beast("robots-html", Page(), "ok", Page("No robots here", html="<p>Disallow: /</p>")),
        _beast("robots-binary", Page(), "ok", Page(body=bytes(range(256)) * 100, content_type=plain)),
        _beast("robots-stars", Page(), "ok", "User-agent: *\n" + "Disallow: /" + "*a" * 2000 + "\n"),
        _beast("robots-delay", Page(), "crawl_delay_too_long", "User-agent: *\nCrawl-delay: 99999\n"),
    ]


def _sitemaps() -> list[Beast]:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    kinds = {
        "map-of-itself": _INDEX.format("<sitemap><loc>http://map-of-itself.test/s.xml</loc></sitemap>"),
        "map-xxe": '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
        + _SITEMAP.format("<url><loc>&e;</loc></url>"),
        "map-laughs": f'<!DOCTYPE x [<!ENTITY l0 "ha">{laughs}]>' + _SITEMAP.format("<url><loc>&l9;</loc></url>"),
        "map-nested": "<urlset>" * 5_000,
        "map-endless": _SITEMAP.format(
            "".join(f"<url><loc>http://map-endless.test/{n}</loc></url>" for n in range(2_000))
        ),
    }
    return [
        Beast(
            name,
            Site(
                f"{name}.test",
                {"/": Page(), "/s.xml": Page(body=body, content_type="application/xml")},
                f"Sitemap: http://{name}.test/s.xml",
            ),
            frozenset({"ok"}),
        )
        for name, body in kinds.items()
    ]


def _traps() -> list[Beast]:
    """Endless sites."""

    def maze(path: str) -> Page:
        return Page("Not really found", links=[f"/{number}" for number in prose.draw(path, 5, 1 << 40)])

    def deeper(path: str) -> Page:
        return Page("Deeper", links=[f"{path}{prose.draw(path, 1, 1000)[0]}/"])

    def farm(path: str) -> Page:
        return Page("Farm", links=[f"http://h{n}.farm.test/{path[1:9]}x" for n in prose.draw(path, 5, 1 << 40)])

    def filters(path: str) -> Page:
        return Page(
            "Shop", links=[f"/?{'&'.join(f'f{n}={n}' for n in prose.draw(f'{path}{i}', 3, 99))}" for i in range(9)]
        )

    computed = {"maze": maze, "deeper": deeper, "filters": filters}
    sites = [Site(f"{name}.test", ComputedPages(page)) for name, page in computed.items()]
    sites += [calendar("calendar.test"), session_maze("sessions.test"), Site("*.farm.test", ComputedPages(farm))]
    sites.append(
        Site("again.test", ComputedPages(lambda path: Page(links=["again/", "more/"]) if path.endswith("/") else None))
    )
    return [Beast(site.host.partition(".")[0].replace("*", "farm"), site, frozenset({"ok"})) for site in sites]


def _moods() -> list[Beast]:
    """Servers that make the crawler wait."""
    return [
        _beast("ten-years", Page(status=503, headers={"Retry-After": "315360000"}), "retry Retry-After"),
        _beast(
            "next-century",
            Page(status=429, headers={"Retry-After": "Fri, 01 Jan 2125 00:00:00 GMT"}),
            "retry Retry-After",
        ),
        _beast("never-mind", Page(status=503, headers={"Retry-After": "-5 minutes"}), "http_error retry"),
        _beast("always-500", Page(status=500), "http_error retry"),
    ]


def _pages() -> list[Beast]:
    """Hostile pages."""
    refresh = '<meta http-equiv="refresh" content="0; url=/">'
    elsewhere = '<link rel="canonical" href="http://victim.test/">'
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(50_000))
    utf16 = Page(body=b"<title>caf\xe9</title>" * 100, content_type="text/html; charset=utf-16")
    return [
        _beast("refresh", Page(head=refresh), "ok"),
        _beast("canonical", Page(head=elsewhere), "ok"),
        _beast("based", Page(head='<base href="http://victim.test/">', links=["x"]), "ok"),
        _beast("linked", Page(html=links), "ok"),
        _beast("nested", Page(html="<div>" * 100_000), "ok"),
        _beast("attribute", Page(html=f'<a title="{"x" * 3_000_000}" href="/y">y</a>'), "ok"),
        _beast("tables", Page(html="<table><tr><td>" * 20_000), "ok"),
        _beast("zeros", Page(body=b"\0" * 100_000), "ok"),
        _beast("utf16", utf16, "ok"),
        _beast(
            "schemes", Page(links=["data:text/html,x", "javascript:x", "mailto:a@b", "ftp://a.test/", "http://["]), "ok"
        ),
        _beast("cookies", Page(headers=[("Set-Cookie", f"c{n}={'x' * 50}") for n in range(500)]), "ok"),
        _beast("image", Page(body=b"\x89PNG", content_type="image/png"), "wrong_type"),
        _beast("untyped", Page(body=bytes(range(32)) * 100, content_type=""), "wrong_type"),
    ]
