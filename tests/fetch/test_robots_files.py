"""Every robots.txt, real or hostile, is parsed correctly and quickly."""

from __future__ import annotations

import base64
import gc
import json
import re
import tarfile
import time
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.fetch.robots import Robots, RobotsVerdict
from periplus.url import Canonicalizer, split

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "robots"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the shared test data is not beside this repository")

# Google's expectations that differ from ours. URLs are canonical here, so a raw letter in a URL is escaped before
# matching; RFC 9309 (section 2.2.2) reads `%62%61%7A` as `baz`; and it defines no directory index.
NOT_OURS = {
    (r"Allow: /foo/bar/ツ", "http://foo.bar/foo/bar/ツ"),
    (r"Allow: /foo/bar/%E3%83%84", "http://foo.bar/foo/bar/ツ"),
    (r"Allow: /foo/bar/%62%61%7A", "http://foo.bar/foo/bar/baz"),
    (r"Allow: /allowed-slash/index.html", "http://foo.com/allowed-slash/"),
}


def allowed(robots: Robots, path: str) -> bool:
    return robots.verdict(path).allowed


# --- conformance ---


@needs_data
def test_googles_cases_are_answered_as_google_does_except_where_the_rfc_differs() -> None:
    canonical = Canonicalizer().canonical
    differing = set()
    cases = json.loads((DATA / "google_cases.json").read_text())
    for case in cases:
        body = base64.b64decode(case["robots_txt_b64"])
        url = canonical(case["url"] or "http://foo.bar/")
        assert url is not None
        if allowed(Robots.parse(body, case["user_agent"]), split(url).path) != case["allowed"]:
            differing.add((case["url"], body.decode()))
    assert len(cases) == 142
    assert {url for url, _ in differing} == {url for _, url in NOT_OURS}
    assert all(any(line in body and url == where for line, where in NOT_OURS) for url, body in differing)
    assert len(differing) == len(NOT_OURS)


@needs_data
@pytest.mark.slow
def test_every_real_file_is_parsed_quickly() -> None:
    with tarfile.open(DATA / "real_robots_txt.tar.xz") as archive:
        bodies = [file.read() for member in archive if (file := archive.extractfile(member))]
    assert len(bodies) == 2156
    delays = sitemaps = 0
    for body in bodies:
        started = time.process_time()
        robots = Robots.parse(body)
        text = body.decode("utf-16" if body.startswith(b"\xff\xfe") else "utf-8", errors="replace")
        assert all(verdict.line in text for verdict in (*robots.rules, *map(robots.verdict, ("/", "/a?b=c"))))
        assert time.process_time() - started < 5
        delays += robots.crawl_delay is not None
        sitemaps += len(robots.sitemaps)
    assert (delays, sitemaps) == (269, 4304)


# --- hostile files ---


def test_half_a_rule_at_the_end_of_a_long_file_is_not_a_rule() -> None:
    body = b"User-agent: *\nDisallow: /secret\n" + b"# filler\n" * 60_000
    cut = body[: 500 * 1024 - 12] + b"\nDisallow: /private"
    assert len(cut) > 500 * 1024
    robots = Robots.parse(cut[: 500 * 1024])
    assert (allowed(robots, "/secret"), allowed(robots, "/page")) == (False, True)


def test_a_very_long_line_is_read_as_far_as_google_reads_it() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /" + b"a" * 20_000)
    assert [allowed(robots, "/" + "a" * length) for length in (16_000, 17_000)] == [True, False]


HEADER = b"User-agent: *\n"
HOSTILE = {
    "one rule of stars": HEADER + b"Disallow: /" + b"*a" * 8000 + b"b",
    "stars only": HEADER + b"Disallow: /" + b"*" * 16000 + b"b",
    "many stars in many rules": HEADER + b"".join(b"Disallow: /*a*a*a*a*a*a*a*a*a*%d\n" % n for n in range(13_000)),
    "long pieces": HEADER + b"".join(b"Disallow: /*b%d" % n + b"a" * 200 + b"\n" for n in range(2_300)),
    "many rules": HEADER + b"".join(b"allow:%x\n" % n for n in range(45_000)),
    "many lengths": HEADER + b"".join(b"allow:/" + b"a" * n + b"\n" for n in range(1000)),
    "one line": HEADER + b"Disallow: /" + b"a" * 500_000,
    "many agents": b"User-agent: *\n" * 36_000,
    "many delays": HEADER + b"Crawl-delay: 1\n" * 34_000,
    "zeros": bytes(512_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_file_takes_long(name: str) -> None:
    started = time.process_time()
    robots = Robots.parse(HOSTILE[name])
    assert time.process_time() - started < 2
    started = time.process_time()
    for path in ("/" + "a" * 2000, "/" + "ab" * 1000, "/"):
        robots.verdict(path)
    assert time.process_time() - started < 2


def test_a_file_with_too_many_stars_forbids_more_rather_than_less() -> None:
    lines = [*(f"Disallow: /open/*x{number}" for number in range(1500)), "Allow: /open/a*b", "Disallow: /z*a"]
    robots = Robots.parse(HEADER + "\n".join(lines).encode())
    assert not allowed(robots, "/open/page")
    assert not allowed(robots, "/zoo")
    assert allowed(robots, "/page")


@given(st.binary(max_size=400), st.text(max_size=40))
def test_any_bytes_are_a_robots_file(body: bytes, path: str) -> None:
    assert isinstance(Robots.parse(HEADER + body).verdict("/" + path), RobotsVerdict)


PATHS = st.text("ab/", max_size=8).map(lambda text: "/" + text)
PATTERNS = st.text("ab/*$", max_size=8).map(lambda text: "/" + text)


@given(st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), PATTERNS), max_size=8), PATHS)
def test_rules_match_like_the_regular_expressions_they_stand_for(pairs: list[tuple[str, str]], path: str) -> None:
    matching = [(_length(pattern), kind == "Allow") for kind, pattern in pairs if _expression(pattern).match(path)]
    expected = max(matching)[1] if matching else True
    lines = "\n".join(f"{kind}: {pattern}" for kind, pattern in pairs)
    assert allowed(Robots.parse(HEADER + lines.encode()), path) is expected


def _expression(pattern: str) -> re.Pattern[str]:
    body = pattern.removesuffix("$")
    return re.compile(re.escape(body).replace(r"\*", ".*") + ("$" if body != pattern else ""))


def _length(pattern: str) -> int:
    """A `$` that is not the end of a rule is compared in its escaped form."""
    return len(pattern) + 2 * pattern.removesuffix("$").count("$")


# --- memory ---


@pytest.mark.parametrize(
    "line",
    [
        b"Disallow:/%x",
        b"Allow: /a/rather/long/path/to/a/page-%d.html",
        b"Disallow:/%d*",
        b"Disallow:/%d" + b"*/a" * 400 + b"$",
        b"Disallow: /\xe4\xf6\xfc%d",
        "Disallow: /\N{SNOWMAN}%d".encode(),
        b"Sitemap: http://a.test/%d.xml",
    ],
)
def test_the_memory_of_the_rules_is_estimated(line: bytes) -> None:
    body = b"\n".join([b"User-agent: *", *(line % number for number in range(3_000))])
    tracemalloc.start()
    try:
        robots = Robots.parse(body)
        gc.collect()
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.9 * taken < robots.memory_bytes() < 1.6 * taken
