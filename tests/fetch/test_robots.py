"""Are the rules of a robots.txt understood?"""

from __future__ import annotations

import pytest

from periplus.fetch.robots import Robots, RobotsVerdict


def rules(*lines: str) -> Robots:
    return Robots.parse("\n".join(lines).encode())


def ours(*lines: str) -> Robots:
    return rules("User-agent: Periplus", *lines)


def allowed(robots: Robots, path: str) -> bool:
    return robots.verdict(path).allowed


# --- groups ---


def test_our_own_group_applies_else_the_one_for_all_agents() -> None:
    both = rules("User-agent: *", "Disallow: /", "User-agent: periplus", "Disallow: /private")
    assert allowed(both, "/page")
    assert not allowed(both, "/private")
    assert not allowed(rules("User-agent: *", "Disallow: /", "User-agent: other", "Disallow:"), "/page")
    assert allowed(rules("User-agent: other", "Disallow: /"), "/page")


@pytest.mark.parametrize(
    "name", ["Periplus", "PERIPLUS", "periplus/1.0", "Periplus Crawler", "periplus (+http://x)", "Periplus2"]
)
def test_our_name_is_recognised_however_it_is_written(name: str) -> None:
    assert not allowed(rules(f"User-agent: {name}", "Disallow: /"), "/")


@pytest.mark.parametrize("name", ["Peri", "PeriplusBot", "Periplus-News", "MyPeriplus", "", "*bot", "/Periplus"])
def test_another_name_is_not_ours(name: str) -> None:
    assert allowed(rules(f"User-agent: {name}", "Disallow: /"), "/")


def test_all_our_groups_are_one() -> None:
    robots = rules(
        "User-agent: Periplus", "Disallow: /a", "User-agent: x", "Disallow: /b", "User-agent: periplus", "Disallow: /c"
    )
    assert [allowed(robots, path) for path in ("/a", "/b", "/c")] == [False, True, False]


def test_several_agents_may_share_a_group_and_unknown_lines_do_not_separate_them() -> None:
    robots = rules(
        "User-agent: x", "Sitemap: http://x/", "", "# talk", "Noindex: /", "User-agent: Periplus", "Disallow: /a"
    )
    assert not allowed(robots, "/a")
    assert not allowed(rules("User-agent: Periplus", "Unknown: 1", "User-agent: x", "Disallow: /a"), "/a")


@pytest.mark.parametrize(
    "between", ["Crawl-delay: 5", "Sitemap: http://x/", "Host: x", "Clean-param: a /b", "Noindex: /y"]
)
@pytest.mark.parametrize("agents", [("Periplus", "x"), ("x", "Periplus"), ("*", "x"), ("x", "*")])
def test_names_with_any_other_line_than_a_rule_between_them_share_the_rules_that_follow(
    between: str, agents: tuple[str, str]
) -> None:
    """RFC 9309 (section 2.2.4): other records do not end a group."""
    first, second = (f"User-agent: {agent}" for agent in agents)
    robots = rules(first, between, second, "Disallow: /a", between, "User-agent: y", "Disallow: /b")
    assert [allowed(robots, path) for path in ("/a", "/b")] == [False, True]


def test_a_delay_between_names_is_for_the_names_right_above_it() -> None:
    """The RFC does not define delays. Real files set the delay of another robot there, for that robot only."""
    assert rules("User-agent: Periplus", "Crawl-delay: 5", "User-agent: x", "Disallow: /a").crawl_delay == 5
    assert rules("User-agent: x", "Crawl-delay: 2000", "", "User-agent: *", "Disallow: /a").crawl_delay is None
    both = rules("User-agent: x", "User-agent: *", "Crawl-delay: 5", "User-agent: y", "Crawl-delay: 9", "Disallow: /a")
    assert (both.crawl_delay, allowed(both, "/a")) == (5, False)
    assert rules("User-agent: *", "Disallow: /a", "Crawl-delay: 5", "User-agent: x", "Crawl-delay: 9").crawl_delay == 5


def test_rules_before_any_user_agent_are_ignored() -> None:
    assert allowed(rules("Disallow: /", "User-agent: *", "Disallow: /x"), "/")


# --- rules ---


def test_the_longest_rule_decides_and_allow_wins_a_tie() -> None:
    robots = ours(
        "Disallow: /", "Allow: /public", "Disallow: /public/secret", "Disallow: /tie", "Allow: /tie", "Allow: /t*e"
    )
    verdicts = [allowed(robots, path) for path in ("/", "/x", "/public/page", "/public/secret/page", "/tie")]
    assert verdicts == [False, False, True, False, True]


def test_a_tie_between_a_star_and_a_plain_rule_is_also_won_by_allow() -> None:
    assert allowed(ours("Disallow: /abc", "Allow: /a*c"), "/abc")
    assert allowed(ours("Disallow: /a*c", "Allow: /abc"), "/abc")
    assert not allowed(ours("Disallow: /a*cd", "Allow: /abc"), "/abcd")


def test_a_rule_longer_than_the_path_does_not_match() -> None:
    assert allowed(ours("Disallow: /ab", "Disallow: /abcdef", "Allow: /*ab$"), "/ab")


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("/*.php", ["/a.php", "/a.php5", "/a/b.php?x"], ["/a", "/php"]),
        ("/*.php$", ["/a.php", "/a/b.php"], ["/a.php5", "/a.php?x"]),
        ("/a*b*c", ["/abc", "/axxbxxc/d"], ["/acb", "/ab"]),
        ("/a*a$", ["/aa", "/aba", "/aaaa"], ["/a", "/ab"]),
        ("/$", ["/"], ["/a"]),
        ("/a$", ["/a"], ["/ab", "/"]),
        ("*", ["/", "/x"], []),
        ("*$", ["/", "/x"], []),
        ("*/x", ["/x", "/a/x"], ["/y"]),
        ("/a**b", ["/ab", "/axb"], ["/a"]),
        ("/a$b", ["/a$b", "/a%24b"], ["/a"]),
        ("/a%2Ab", ["/a*b", "/a%2ab"], ["/axb"]),
        ("/a%24$", ["/a$"], ["/a", "/a$b"]),
        ("private", [], ["/private", "private"[1:]]),
    ],
)
def test_stars_and_dollar_signs(pattern: str, matching: list[str], others: list[str]) -> None:
    robots = ours(f"Disallow: {pattern}")
    assert [path for path in matching + others if not allowed(robots, path)] == matching


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/ä", "/%C3%A4"), ("/%c3%a4", "/%C3%A4"), ("/ä", "/ä"), ("/a%62c", "/abc"), ("/abc", "/a%62c"),
        ("/a b", "/a%20b"),
        ("/~x", "/%7Ex"), ("/{x}", "/%7Bx%7D"), ("/?q=it's", "/?q=it%27s"), ("/100%", "/100%25"), ("/a|b", "/a%7Cb"),
    ],
)  # fmt: skip
def test_escapes_are_compared_in_one_spelling(pattern: str, path: str) -> None:
    assert not allowed(ours(f"Disallow: {pattern}"), path)


def test_an_escaped_slash_is_not_a_slash() -> None:
    assert allowed(ours("Disallow: /a/b"), "/a%2Fb")


def test_a_latin_1_file_matches_the_bytes_it_names() -> None:
    assert not allowed(Robots.parse("User-agent: *\nDisallow: /ä".encode("latin-1")), "/%E4")


def test_an_empty_rule_forbids_nothing() -> None:
    assert allowed(ours("Disallow:", "Disallow: "), "/")


def test_the_file_itself_may_always_be_fetched() -> None:
    assert allowed(ours("Disallow: /"), "/robots.txt")
    assert not allowed(ours("Disallow: /"), "/robots.txt.bak")


# --- syntax ---


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_any_line_end_and_a_byte_order_mark_are_fine(end: str, mark: bytes) -> None:
    verdict = Robots.parse(mark + end.join(["User-agent: *", "Disallow: /x # why", ""]).encode()).verdict("/x/y")
    assert verdict == RobotsVerdict(False, "Disallow: /x", 2)


@pytest.mark.parametrize(
    "junk",
    [
        b"\xef",
        b"\xef\xbb",
        b"\xbb\xbf",
        b"\xbf",
        b"\xef\xbb\xbf" * 2,
        "\ufffd\ufffd".encode(),
        "\xef\xbb\xbf".encode(),  # encoded twice
        b"\xff\xfe",
        "\N{ZERO WIDTH SPACE}".encode(),
        b" \r\n\xef\xbb\xbf ",
        b"\0",
    ],
)
def test_a_damaged_byte_order_mark_does_not_hide_the_first_line(junk: bytes) -> None:
    robots = Robots.parse(junk + b"User-agent: *\nDisallow: /x")
    assert (allowed(robots, "/x"), allowed(robots, "/y")) == (False, True)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff", "\n\ufeff", "# \ufeff\n"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_file_in_utf_16_is_obeyed(encoding: str, mark: str, end: str) -> None:
    body = mark + end.join(["User-agent: *", "Disallow: /\xe4", "Crawl-delay: 5", "Sitemap: http://x.example/\u0a41"])
    robots = Robots.parse(body.encode(encoding))
    assert (allowed(robots, "/%C3%A4"), allowed(robots, "/b"), robots.crawl_delay) == (False, True, 5)
    assert robots.verdict("/%C3%A4").line == "Disallow: /\xe4"
    assert robots.sitemaps == ("http://x.example/\u0a41",)


@pytest.mark.parametrize("comment", ["# \u4e2d\u6587", "\u4e2d\u6587"])
def test_a_file_in_utf_16_may_start_with_other_letters(comment: str) -> None:
    body = f"{comment}\nUser-agent: *\nDisallow: /".encode("utf-16")
    assert not allowed(Robots.parse(body), "/page")


def test_a_few_nul_bytes_do_not_make_a_file_utf_16() -> None:
    assert not allowed(Robots.parse(b"User-agent: *\nDisallow: /\n\0\0\0\0"), "/page")


def test_utf_16_with_the_mark_in_another_encoding_is_obeyed() -> None:
    robots = Robots.parse("\ufffd\ufffd".encode() + "User-agent: *\nDisallow: /".encode("utf-16-le"))
    assert not allowed(robots, "/page")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("odd", [0, 1])
def test_half_a_rule_at_the_end_of_a_long_file_in_utf_16_is_not_a_rule(encoding: str, odd: int) -> None:
    lines = ["\ufeffUser-agent: *", "Disallow: /secret", "# " + "filler" * 2_000]
    start = "\n".join(lines + ["# filler"] * 30_000)[: 250 * 1024 - 12] + "\nDisallow: /"
    robots = Robots.parse((start + "private").encode(encoding)[: 500 * 1024 + odd])
    assert (allowed(robots, "/secret"), allowed(robots, "/page")) == (False, True)


@pytest.mark.parametrize(
    "line",
    [
        "DISALLOW: /",
        "disallow /",
        " Disallow : / ",
        "Dissallow: /",
        "Disalow:/",
        "Dissalow: /",
        "Diasllow: /",
        "Disallaw: /",
    ],
)
def test_common_typing_errors_are_understood(line: str) -> None:
    for name in ("User-agent: *", "Useragent: *", "User agent: *", "user-agent *", "User-Agent: * # all"):
        assert not allowed(rules(name, line), "/page")


def test_the_verdict_names_the_line_that_decided() -> None:
    robots = rules("# hello", "", "User-agent: *", "Disallow:  /private/  # keep out", "Allow: /private/open")
    assert robots.verdict("/private/x") == RobotsVerdict(False, "Disallow:  /private/", 4)
    assert robots.verdict("/private/open") == RobotsVerdict(True, "Allow: /private/open", 5)
    assert robots.verdict("/x") == RobotsVerdict(True, "", 0)


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        ("", None), ("5", 5), ("0.5", 0.5), ("10s", 10), ("x", None), ("-1", None), ("0", 0), ("nan", None),
        ("inf", None), ("9" * 500, 999_999_999), ("2\nCrawl-delay: 1", 2), ("2\nCrawl-delay: 3", 3),
    ],
)  # fmt: skip
def test_a_site_may_set_a_crawl_delay(value: str, delay: float | None) -> None:
    assert ours(f"Crawl-delay: {value}").crawl_delay == delay


def test_without_a_crawl_delay_there_is_none() -> None:
    assert ours().crawl_delay is None


def test_sitemaps_are_for_everyone() -> None:
    robots = rules(
        "Sitemap: https://x.example/a.xml", "User-agent: other", "sitemap:/b.xml", "Sitemap: https://x.example/a.xml"
    )
    assert robots.sitemaps == ("https://x.example/a.xml", "/b.xml")


# --- the status of the response ---


@pytest.mark.parametrize("status", [301, 308, 400, 401, 403, 404, 410, 451, 499])
def test_without_a_file_everything_is_allowed(status: int) -> None:
    assert Robots.for_status(status, b"User-agent: *\nDisallow: /").verdict("/").allowed


@pytest.mark.parametrize("status", [0, 429, 500, 502, 503, 504, 599])
def test_while_the_file_is_unreachable_nothing_is_allowed(status: int) -> None:
    verdict = Robots.for_status(status).verdict("/page")
    assert not verdict.allowed
    assert "nothing is allowed" in verdict.line
    assert str(status or "unreachable") in verdict.line


@pytest.mark.parametrize("status", [200, 203, 206])
def test_a_file_that_is_there_is_obeyed(status: int) -> None:
    assert not Robots.for_status(status, b"User-agent: *\nDisallow: /x").verdict("/x").allowed


def test_a_web_page_instead_of_a_robots_file_forbids_nothing() -> None:
    page = b"<!doctype html><html><body style='color: red'>\n<p>Disallow: nothing</p>\n<a href='http://x/'>x</a></html>"
    assert Robots.for_status(200, page).verdict("/").allowed
