"""Does the server's log show that every rule of robots.txt was obeyed?"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from crawl.crawling import run_crawl, sound
from testweb import Page, Site, TestWeb

KIB = 1024
# A robots.txt, the paths that it allows and the paths that it disallows, by RFC 9309.
TABLE: list[tuple[str, str, str]] = [
    ("", "/a /b?c", ""),
    ("User-agent: *\nDisallow:", "/a /b", ""),
    ("User-agent: *\nDisallow: /", "", "/ /a"),
    ("User-agent: *\nDisallow: /a", "/b /A", "/a /ab /a/b /a?b"),
    ("User-agent: *\nDisallow: /a/", "/a /ab", "/a/ /a/b"),
    ("User-agent: *\nDisallow: /a/b", "/a/ /a/c", "/a/b /a/bc"),
    ("user-agent: *\nDISALLOW: /a", "/b", "/a"),
    ("User-agent:*\nDisallow:/a", "/b", "/a"),
    ("User-agent: * # all\nDisallow: /a # this one", "/b", "/a"),
    ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b /a/bc", "/a /a/c"),
    ("User-agent: *\nAllow: /a/b\nDisallow: /a", "/a/b /a/bc", "/a /a/c"),
    ("User-agent: *\nDisallow: /a\nAllow: /a", "/a /a/b", ""),
    ("User-agent: *\nDisallow: /*.pdf$", "/x.pdfx /x.pdf?y /pdf", "/x.pdf /y/z.pdf"),
    ("User-agent: *\nDisallow: /*?", "/a /b", "/a?b /?c"),
    ("User-agent: *\nDisallow: /a*b*c", "/a /ab /ba", "/abc /axbxcx"),
    ("User-agent: *\nDisallow: /a$", "/ab /a/", "/a"),
    ("User-agent: *\nDisallow: *a", "/b", "/a /ba"),
    ("User-agent: *\nDisallow: /\nAllow: /$", "/", "/a"),
    ("User-agent: *\nDisallow: /caf%C3%A9", "/cafe", "/caf%C3%A9 /caf%C3%A9/x"),
    ("User-agent: *\nDisallow: /café", "/cafe", "/caf%C3%A9"),
    ("User-agent: *\nDisallow: /%61b", "/b", "/ab"),
    ("User-agent: *\nDisallow: /a%2Fb", "/a/b", "/a%2Fb"),
    ("User-agent: Periplus\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", "/a"),
    ("User-agent: *\nDisallow: /b\n\nUser-agent: periplus\nDisallow: /a", "/b", "/a"),
    ("User-agent: Periplus/9.9\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", "/a"),
    ("User-agent: PeriplusImages\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/a", "/b"),
    ("User-agent: other\nDisallow: /a", "/a", ""),
    ("User-agent: other\nUser-agent: *\nDisallow: /a", "/b", "/a"),
    ("User-agent: other\nUser-agent: periplus\nDisallow: /a\n\nUser-agent: *\nDisallow: /b", "/b", "/a"),
    ("User-agent: periplus\nDisallow: /a\n\nUser-agent: periplus\nDisallow: /b", "/c", "/a /b"),
    ("User-agent: *\n\nDisallow: /a\n\nDisallow: /b", "/c", "/a /b"),
    ("User-agent: *\nSitemap: /nowhere\nDisallow: /a", "/b", "/a"),
    ("User-agent: *\nNonsense\nFoo: bar\nDisallow: /a", "/b", "/a"),
    ("Disallow: /a\nUser-agent: *\nDisallow: /b", "/a", "/b"),
    ("\ufeffUser-agent: *\nDisallow: /a", "/b", "/a"),
    ("User-agent: *\rDisallow: /a\rDisallow: /b", "/c", "/a /b"),
    ("User-agent: *\r\nDisallow: /a\r\n", "/b", "/a"),
    ("User-agent: *\nDissalow: /a", "/b", "/a"),
    ("User-agent: *\nDisallow /a", "/b", "/a"),
    ("<html><body>User-agent: *<br>Disallow: /a</body></html>", "/a", ""),
]


def test_no_path_that_robots_txt_disallows_is_ever_fetched_and_every_other_is(tmp_path: Path) -> None:
    sites = []
    for number, (robots, open_paths, closed_paths) in enumerate(TABLE):
        paths = [*open_paths.split(), *closed_paths.split()]
        pages = {path: Page() for path in paths}
        door = Site(f"door{number}.test", {"/": Page(links=[f"http://t{number}.test{path}" for path in paths])})
        sites += [door, Site(f"t{number}.test", pages, robots)]
    with TestWeb(sites) as web:
        run_crawl(web, tmp_path, *(f"http://door{number}.test/" for number in range(len(TABLE))), scope__hosts=[".*"])
        for number, (robots, open_paths, _closed) in enumerate(TABLE):
            asked = set(web.log.paths(f"t{number}.test")) - {"/robots.txt"}
            assert asked == set(open_paths.split()), robots
    sound(tmp_path)


def test_rules_count_up_to_five_hundred_kilobytes(tmp_path: Path) -> None:
    """RFC 9309 requires crawlers to read so much; a rule that is cut there does not count."""
    start = "User-agent: *\nDisallow: /first\n"
    filler = "#" * 99 + "\n"
    within = start + filler * ((500 * KIB - len(start) - 200) // 100) + "Disallow: /last\n" + filler * 200
    beyond = start + filler * (500 * KIB // 100 + 10) + "Disallow: /last\n"
    pages = {"/": Page(links=["/first", "/last"]), "/first": Page(), "/last": Page()}
    with TestWeb([Site("within.test", dict(pages), within), Site("beyond.test", dict(pages), beyond)]) as web:
        run_crawl(web, tmp_path, "http://within.test/", "http://beyond.test/")
        assert web.log.paths("within.test") == ["/robots.txt", "/"]
        assert web.log.paths("beyond.test") == ["/robots.txt", "/", "/last"]


def test_robots_txt_is_fetched_again_after_a_day_and_not_before(tmp_path: Path) -> None:
    pages = {f"/{number}": Page() for number in range(3)}
    with TestWeb([Site("a.test", pages, "User-agent: *\nDisallow: /none")]) as web:
        for number, age in enumerate((0, 86_000, 86_500)):
            if age:
                with sqlite3.connect(tmp_path / "crawl.db") as database:
                    database.execute("UPDATE robots SET fetched_at = strftime('%s', 'now') - ?", (age,))
                database.close()
            run_crawl(web, tmp_path, f"http://a.test/{number}")
        assert web.log.paths("a.test") == ["/robots.txt", "/0", "/1", "/robots.txt", "/2"]


def test_changed_rules_count_as_soon_as_robots_txt_is_fetched_again(tmp_path: Path) -> None:
    pages = {"/": Page(links=["/x"]), "/x": Page()}
    with TestWeb([Site("a.test", pages)]) as web:
        run_crawl(web, tmp_path, "http://a.test/", scope__depth=0)
        with sqlite3.connect(tmp_path / "crawl.db") as database:
            database.execute("UPDATE robots SET fetched_at = 0")
        database.close()
        web.add(Site("a.test", pages, "User-agent: *\nDisallow: /x"))
        result = run_crawl(web, tmp_path, "http://a.test/x")
        assert web.log.count("a.test", "/x") == 0
    assert result.summary["refused"] == {"robots": 1}
